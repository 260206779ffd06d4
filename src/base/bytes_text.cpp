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
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr == text.data()) return std::nullopt;
  std::string_view unit(read.ptr, size_t(end - read.ptr));
  if (unit.empty() || unit == "B") return number;
  constexpr std::string_view kLetters = "KMGT";
  const size_t place = kLetters.find(unit[0]);
  unit.remove_prefix(1);
  if (place == kLetters.npos || !(unit.empty() || unit == "B" || unit == "iB")) return std::nullopt;
  const uint64_t factor = uint64_t{1} << (10 * (place + 1));
  if (number > UINT64_MAX / factor) return std::nullopt;
  return number * factor;
}

}  // namespace tokamak
