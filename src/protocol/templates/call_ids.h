// Ids of calls in a conversation, as the chat templates of some families want them.
#pragma once
#include "protocol/output/tool_family.h"

namespace tokamak::protocol {

/// Replaces the ids of calls and of their results in `messages` of a template's variables, where
/// the family has a form of its own for them: always by the same.
void fit_call_ids(const ToolFamily& family, Json& variables);

}  // namespace tokamak::protocol
