// How much a model thinks before it answers, in the words of every protocol.
#pragma once
#include <string>
#include <vector>

#include "protocol/requests/fields.h"

namespace tokamak::protocol {

/// The efforts of all protocols, from none to the most.
inline constexpr std::string_view kEfforts[] = {"none", "minimal", "low", "medium",
                                                "high", "xhigh",   "max"};

/// Reads whether the model reasons, and how much: in `enable_thinking` and `reasoning_effort`.
Answer<void> read_thinking(Fields& fields);

/// Sets reasoning_effort to the known one that is nearest, and enable_thinking, which some
/// templates call thinking: false for the efforts none and minimal. What chat_template_kwargs has
/// stays. REQUIRES: read_thinking().
void set_thinking(const Fields& fields, const std::vector<std::string>& known, Json& variables);

}  // namespace tokamak::protocol
