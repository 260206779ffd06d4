// Tools, and which of them may be called, as a chat of OpenAI's has them.
#pragma once
#include "protocol/requests/fields.h"

namespace tokamak::protocol {

/// Makes functions of the tools, and of tool_choice a word or such a function.
Answer<void> read_tools(Fields& fields, Endpoint endpoint);

/// The name that a model sees of a function in a namespace.
std::string name_in_namespace(std::string_view outer, std::string_view inner);

}  // namespace tokamak::protocol
