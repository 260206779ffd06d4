// The conversation of a chat request, checked and as chat templates read it.
#pragma once
#include <string>
#include <vector>

#include "protocol/requests/fields.h"

namespace tokamak::protocol {

/// Checks the conversation and makes each message the one form that it may have: {"role",
/// "content", "tool_calls", "tool_call_id", "name", "reasoning_content"}, as far as it has them.
/// "developer" becomes "system"; a content is a text, or where images are among its parts a list of
/// them (content_parts.h); arguments of earlier calls that are JSON are no longer a text.
/// Errors say which message and which part of it is wrong.
Answer<void> read_chat(Fields& fields);

/// The variables of a chat template: messages, in which images are parts {"type": "image"}, tools,
/// add_generation_prompt, and the members of chat_template_kwargs. REQUIRES: read_chat(),
/// read_tools().
Answer<Json> chat_variables(const Fields& fields);

struct ToolChoice {
  bool shows = false;  // the tools to the model
  std::vector<size_t>
      called;  // places in tools; the answer must call one or more; none: it need not
};

/// REQUIRES: read_tools().
Answer<ToolChoice> tool_choice_of(const Fields& fields);

}  // namespace tokamak::protocol
