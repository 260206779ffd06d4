// The conversation of a chat request, checked and as chat templates read it.
#pragma once
#include <string>
#include <vector>

#include "openai/fields.h"

namespace tokamak::openai {

/// What the chat template gets: messages, tools, add_generation_prompt, and the members of
/// chat_template_kwargs. Contents in parts become one text, a line for each, and where images are
/// among them parts {"type": "image"} and {"type": "text"}; "developer" becomes "system"; arguments
/// of earlier calls that are JSON are no longer a text.
/// Errors say which message and which part of it is wrong.
Answer<Json> chat_variables(const Fields& fields);

struct ToolChoice {
  bool shows = false;  // the tools to the model
  std::vector<size_t>
      called;  // places in tools; the answer must call one or more; none: it need not
};

/// REQUIRES: tools that chat_variables() has taken.
Answer<ToolChoice> tool_choice_of(const Fields& fields);

}  // namespace tokamak::openai
