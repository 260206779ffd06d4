// The body of Anthropic's Messages as a chat of OpenAI's.
#pragma once
#include "protocol/requests/fields.h"

namespace tokamak::protocol {

/// `fields` as the table has read them.
Answer<void> read_anthropic(Fields& fields, bool needs_max_tokens);

}  // namespace tokamak::protocol
