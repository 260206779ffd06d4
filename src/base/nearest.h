// Which known word somebody may have meant: for messages about unknown ones.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace tokamak {

/// The known word with the fewest letters inserted, removed or exchanged; "" when even that one
/// differs in more than a third of its letters.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

/// " (did you mean linear?)", or "" when no known word is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace tokamak
