#include "base/base64.h"

#include <array>
#include <cstdint>

namespace tokamak {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr uint8_t kNone = 64, kSpace = 65;

/// By byte: the number of a letter of either alphabet, kSpace or kNone.
constexpr std::array<uint8_t, 256> kLoose = [] {
  std::array<uint8_t, 256> out = {};
  out.fill(kNone);
  for (size_t i = 0; i < kLetters.size(); ++i) out[uint8_t(kLetters[i])] = uint8_t(i);
  out[uint8_t('-')] = 62;
  out[uint8_t('_')] = 63;
  for (const char c : {' ', '\t', '\n', '\f', '\r'}) out[uint8_t(c)] = kSpace;
  return out;
}();

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
  std::optional<std::vector<std::byte>> out = bytes_of_loose_base64(text);
  if (out && base64_of(*out) != text) out.reset();
  return out;
}

std::optional<std::vector<std::byte>> bytes_of_loose_base64(std::string_view text) {
  std::vector<std::byte> out;
  out.reserve(text.size() / 4 * 3 + 3);
  uint32_t group = 0;
  size_t letters = 0, padding = 0;
  for (const char c : text) {
    const uint8_t letter = kLoose[uint8_t(c)];
    if (letter == kSpace) continue;
    padding += c == '=';
    if (c == '=') continue;
    if (letter == kNone || padding > 0) return std::nullopt;
    group = group << 6 | letter;
    if (++letters % 4 != 0) continue;
    for (const int shift : {16, 8, 0}) out.push_back(std::byte(group >> shift & 255));
    group = 0;
  }
  const size_t rest = letters % 4;
  if (rest == 1 || padding > 2 || (padding > 0 && (rest + padding) % 4 != 0)) return std::nullopt;
  if (rest >= 2) out.push_back(std::byte(group >> (6 * rest - 8) & 255));
  if (rest == 3) out.push_back(std::byte(group >> 2 & 255));
  return out;
}

}  // namespace tokamak
