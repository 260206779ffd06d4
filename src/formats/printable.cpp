#include "formats/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace tokamak {
namespace {

bool is_control(char c) {
  return uint8_t(c) < 0x20 || c == 0x7f;
}

}  // namespace

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, is_control);
}

std::string printable(std::string_view text) {
  constexpr size_t kMaxBytes = 200;
  const std::string_view begin = utf8_prefix(text, kMaxBytes);
  std::string out;
  for (const char c : repair_utf8(begin)) {
    if (is_control(c)) {
      out += fmt::format("\\x{:02x}", uint8_t(c));
    } else {
      out += c;
    }
  }
  return begin.size() < text.size() ? out + "..." : out;
}

}  // namespace tokamak
