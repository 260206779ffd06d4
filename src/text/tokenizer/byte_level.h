// The 256 characters that byte-level vocabularies write bytes with: printable bytes of Latin-1
// stand for themselves, the other 68 are U+0100 and up, in order (Radford et al. 2019, GPT-2's
// encoder).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tokamak {

/// GPT-2's words (Radford et al. 2019, encoder.py): contractions, letters, numbers, the rest,
/// blanks.
inline constexpr std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Appends the character of every byte; at most 2 bytes each.
void append_byte_chars(std::string& out, std::string_view bytes);

/// The byte that `c` stands for, if any.
std::optional<uint8_t> byte_of_char(char32_t c);

/// The bytes that a token stands for; one with a character that stands for no byte is text itself.
/// REQUIRES: valid UTF-8.
std::string bytes_of_chars(std::string_view token);

}  // namespace tokamak
