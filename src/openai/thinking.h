// How much a model thinks before it answers, in the words of its chat template.
#pragma once
#include <string>
#include <vector>

#include "openai/fields.h"

namespace tokamak {
struct ModelFiles;
}

namespace tokamak::openai {

/// The efforts of all protocols, from none to the most.
inline constexpr std::string_view kEfforts[] = {"none", "minimal", "low", "medium",
                                                "high", "xhigh",   "max"};

/// The efforts that the template knows, in that order; none where it reads no reasoning_effort. It
/// knows low, medium and high, and what it names, unless it refuses them.
std::vector<std::string> known_efforts(const ModelFiles& files, std::string_view chat_template);

/// Sets reasoning_effort to the known one that is nearest, and enable_thinking, which some
/// templates call thinking: false for the efforts none and minimal. What chat_template_kwargs has
/// stays. REQUIRES: read_thinking().
void set_thinking(const Fields& fields, const std::vector<std::string>& known, Json& variables);

}  // namespace tokamak::openai
