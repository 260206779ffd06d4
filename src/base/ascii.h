// Texts of ASCII, whatever the locale: their case, and white space around them.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace tokamak {

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}

inline std::string ascii_lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return ascii_lower(c); });
  return out;
}

/// Without white space before and after it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace tokamak
