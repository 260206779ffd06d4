#include "base/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tokamak {
namespace {

/// Bytes of the character that begins here; 0 when none does.
size_t character_bytes(std::string_view text) {
  const auto first = uint8_t(text[0]);
  const size_t bytes = first < 0x80   ? 1
                       : first < 0xc2 ? 0
                       : first < 0xe0 ? 2
                       : first < 0xf0 ? 3
                       : first < 0xf5 ? 4
                                      : 0;
  const auto continues = [](char c) { return (uint8_t(c) & 0xc0) == 0x80; };
  if (bytes == 0 || bytes > text.size()) return 0;
  return std::ranges::all_of(text.substr(1, bytes - 1), continues) ? bytes : 0;
}

/// C0 and DEL, and C1 in two bytes.
bool is_control(std::string_view character) {
  const auto first = uint8_t(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && uint8_t(character[1]) < 0xa0;
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    const std::string_view character = text.substr(0, std::max<size_t>(bytes, 1));
    text.remove_prefix(character.size());
    if (character == "\r") continue;
    if (character == "\n" || character == "\t" || (bytes > 0 && !is_control(character))) {
      out += character;
      continue;
    }
    for (const char byte : character) out += fmt::format("\\x{:02x}", uint8_t(byte));
  }
  return out;
}

}  // namespace tokamak
