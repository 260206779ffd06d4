// The efforts of reasoning that a chat template knows.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {
struct ModelFiles;
}

namespace tokamak::protocol {

/// The efforts that the template knows, in that order; none where it reads no reasoning_effort. It
/// knows low, medium and high, and what it names, unless it refuses them.
std::vector<std::string> known_efforts(const ModelFiles& files, std::string_view chat_template);

}  // namespace tokamak::protocol
