#include "base/bytes_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace tokamak {

std::string bytes_text(uint64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  double value = double(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::optional<uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  uint64_t whole = 0;
  const char* const end = text.data() + text.size();
  // Whole numbers of bytes may have more digits than a double.
  auto read = std::from_chars(text.data(), end, whole);
  const bool is_whole = read.ec == std::errc() && (read.ptr == end || *read.ptr != '.');
  if (!is_whole) read = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (read.ec != std::errc() || !(number >= 0)) return std::nullopt;
  std::string_view unit(read.ptr, size_t(end - read.ptr));
  if (unit.empty() || unit == "B") return is_whole ? std::optional(whole) : std::nullopt;
  constexpr std::string_view kLetters = "KMGT";
  const size_t place = kLetters.find(unit[0]);
  unit.remove_prefix(1);
  if (place == kLetters.npos || !(unit.empty() || unit == "B" || unit == "iB")) return std::nullopt;
  const uint64_t factor = uint64_t{1} << (10 * (place + 1));
  if (is_whole) return whole <= UINT64_MAX / factor ? std::optional(whole * factor) : std::nullopt;
  const double bytes = number * double(factor);
  return bytes < 0x1p63 ? std::optional(uint64_t(bytes)) : std::nullopt;
}

}  // namespace tokamak
