#include "base/base64.h"

#include <cstdint>

namespace tokamak {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_of(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? uint8_t(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : kLetters[group >> (18 - 6 * k) & 63];
    }
  }
  return out;
}

std::optional<std::vector<std::byte>> bytes_of_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::vector<std::byte> out;
  out.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const size_t padded = i + 4 == text.size() ? padding : 0;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const size_t letter = k < 4 - padded ? kLetters.find(text[i + k]) : 0;
      if (letter == kLetters.npos) return std::nullopt;
      group = group << 6 | uint32_t(letter);
    }
    if ((group & ((1u << 8 * padded) - 1)) != 0) return std::nullopt;
    for (size_t k = 0; k < 3 - padded; ++k) out.push_back(std::byte(group >> (16 - 8 * k) & 255));
  }
  return out;
}

}  // namespace tokamak
