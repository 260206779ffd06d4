// Lengths of time, as people write them.
#pragma once
#include <optional>
#include <string_view>

namespace tokamak {

/// Seconds of "30s", "5m", "12h", "30d", "2w", "1.5h" or "1h30m". A number alone is in units of
/// `unit`, one of these letters. Nothing for any other text, one below 0, or more than a thousand
/// years.
std::optional<double> parse_seconds(std::string_view text, char unit = 's');

}  // namespace tokamak
