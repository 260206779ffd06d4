// The values that options may have.
#include <algorithm>

#include "apps/cli/line/number_of.h"
#include "apps/cli/line/options.h"
#include "base/bytes_text.h"
#include "base/duration_text.h"

namespace tokamak::cli {

std::string not_expected(std::string_view value, std::string_view expected) {
  return fmt::format(" is \"{}\", expected {}", value, expected);
}

Validator in_range(int64_t least, int64_t most) {
  return [=](const std::string& text) -> std::string {
    const auto value = number_of<int64_t>(text);
    if (value && *value >= least && *value <= most) return "";
    return not_expected(text, fmt::format("a whole number from {} to {}", least, most));
  };
}

Validator in_range(int least, int most) {
  return in_range(int64_t{least}, int64_t{most});
}

Validator in_range(double least, double most) {
  return [=](const std::string& text) -> std::string {
    const auto value = number_of<double>(text);
    if (value && *value >= least && *value <= most) return "";  // NaN fails, too
    return not_expected(text, fmt::format("a number from {} to {}", least, most));
  };
}

Validator one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    const std::span<const std::string> all = words;
    return not_expected(
        text, fmt::format("{} or {}", fmt::join(all.first(all.size() - 1), ", "), words.back()));
  };
}

Validator size_text(bool may_be_share) {
  return [may_be_share](const std::string& text) -> Mistake {
    if (may_be_share && text.ends_with('%')) {
      const auto share = number_of<uint32_t>(std::string_view(text).substr(0, text.size() - 1));
      if (share && *share >= 1 && *share <= 100) return "";
      return not_expected(text, "a share from 1% to 100%");
    }
    const auto bytes = parse_bytes(text);
    if (!bytes || *bytes == 0) {
      return not_expected(text,
                          may_be_share ? "a size as 6GiB or a share as 70%" : "a size as 6GiB");
    }
    const bool has_unit = text.find_first_not_of("0123456789.") != text.npos;
    if (!has_unit && *bytes < (1 << 20)) {
      return not_expected(text, fmt::format("a unit after it, as in {}GiB or {}MiB", text, text));
    }
    return "";
  };
}

Validator time_text_of(char unit) {
  return [unit](const std::string& text) -> Mistake {
    if (parse_seconds(text, unit)) return "";
    return not_expected(text, "a time as 30s, 5m, 12h or 30d");
  };
}

double seconds_of(std::string_view text, char unit) {
  return parse_seconds(text, unit).value_or(0);
}

Validator not_empty(const std::string& expected) {
  return [expected](const std::string& text) {
    return text.empty() ? not_expected(text, expected) : "";
  };
}

}  // namespace tokamak::cli
