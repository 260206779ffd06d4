// Letters of ASCII in one case, for what is compared without regard to it whatever the locale.
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

}  // namespace tokamak
