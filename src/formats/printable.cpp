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
  size_t end = std::min(text.size(), kMaxBytes);
  // Never cut a UTF-8 character: step back over its continuation bytes.
  while (end < text.size() && end > 0 && (uint8_t(text[end]) & 0xc0) == 0x80) --end;
  std::string out;
  for (const char c : repair_utf8(text.substr(0, end))) {
    if (is_control(c)) {
      out += fmt::format("\\x{:02x}", uint8_t(c));
    } else {
      out += c;
    }
  }
  return end < text.size() ? out + "..." : out;
}

}  // namespace tokamak
