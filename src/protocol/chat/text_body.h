// The request for a text, whatever the protocol that it came in.
#pragma once
#include "protocol/requests/fields.h"

namespace tokamak::protocol {

/// The request in a body; in `fields` the conversation, the tools and the form of the answer are as
/// a chat of OpenAI's has them.
struct TextBody {
  Fields fields;
  bool is_chat = true;      // else `prompt` counts
  bool only_loads = false;  // nothing is asked but whether the model is there
};

}  // namespace tokamak::protocol
