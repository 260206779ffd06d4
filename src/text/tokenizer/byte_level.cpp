#include "text/tokenizer/byte_level.h"

#include <array>

#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

constexpr uint32_t kCharCount = 256 + 68;

constexpr bool stands_for_itself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Tables {
  std::array<uint16_t, 256> char_of{};
  std::array<int16_t, kCharCount> byte_of{};
};

constexpr Tables make_tables() {
  Tables tables;
  tables.byte_of.fill(-1);
  uint32_t next = 256;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint32_t c = stands_for_itself(byte) ? byte : next++;
    tables.char_of[byte] = uint16_t(c);
    tables.byte_of[c] = int16_t(byte);
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

void append_byte_chars(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) append_utf8(out, kTables.char_of[uint8_t(byte)]);
}

std::optional<uint8_t> byte_of_char(char32_t c) {
  if (c >= kCharCount || kTables.byte_of[c] < 0) return std::nullopt;
  return uint8_t(kTables.byte_of[c]);
}

std::string bytes_of_chars(std::string_view token) {
  std::string bytes;
  for (std::string_view rest = token; !rest.empty();) {
    const Utf8Char c = first_char(rest);
    const auto byte = byte_of_char(c.value);
    if (!byte) return std::string(token);
    bytes += char(*byte);
    rest.remove_prefix(c.bytes);
  }
  return bytes;
}

}  // namespace tokamak
