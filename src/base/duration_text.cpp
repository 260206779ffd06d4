#include "base/duration_text.h"

#include <charconv>

namespace tokamak {
namespace {

constexpr std::string_view kUnits = "smhdw";
constexpr double kSeconds[] = {1, 60, 3600, 86400, 7 * 86400};
constexpr double kMaxSeconds = 1000 * 365.25 * 86400;

}  // namespace

std::optional<double> parse_seconds(std::string_view text, char unit) {
  double all = 0;
  bool is_first = true;
  do {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (read.ec != std::errc() || !(number >= 0)) return std::nullopt;
    text.remove_prefix(size_t(read.ptr - text.data()));
    if (text.empty() && !is_first) return std::nullopt;  // 1h30
    const size_t place = kUnits.find(text.empty() ? unit : text.front());
    if (place == kUnits.npos) return std::nullopt;
    text.remove_prefix(text.empty() ? 0 : 1);
    all += number * kSeconds[place];
    is_first = false;
  } while (!text.empty());
  return all <= kMaxSeconds ? std::optional(all) : std::nullopt;
}

}  // namespace tokamak
