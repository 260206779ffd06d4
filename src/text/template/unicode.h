// Texts as Python sees them: sequences of code points, held as UTF-8.
//
// Every function REQUIRES valid UTF-8; positions are byte offsets unless said otherwise.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/unicode/unicode.h"

namespace tokamak::jinja {

/// The offset after the character that starts at `at`. REQUIRES: at < text.size().
size_t next_character(std::string_view text, size_t at);

/// The code point that starts at `at`, which moves after it.
char32_t take_character(std::string_view text, size_t& at);

/// Code points in `text`.
size_t character_count(std::string_view text);

/// The byte offset of the code point number `index`; the size when there are not that many.
size_t character_offset(std::string_view text, size_t index);

/// The characters of str.isspace; also those that trim.
bool is_space(char32_t character);
bool is_letter(char32_t character);
bool is_decimal_digit(char32_t character);
/// Decimals, and what counts as a digit without being one: superscripts, circled digits.
bool is_digit(char32_t character);
/// The characters of str.isalnum: letters and numbers of any kind.
bool is_alphanumeric(char32_t character);
bool is_upper(char32_t character);
bool is_lower(char32_t character);
/// Whether repr shows the character itself.
bool is_printable(char32_t character);

std::string to_upper(std::string_view text);
/// A sigma that ends a word becomes a final one.
std::string to_lower(std::string_view text);
/// The lower case of the character at [begin, end) of `text`, whose sigmas depend on what is
/// around.
std::string lower_at(std::string_view text, size_t begin, size_t end);
/// For comparisons without regard to case: ss for a sharp s.
std::string fold_case(std::string_view text);

/// `text` without the leading and trailing characters for which `drop` holds.
enum class Side : uint8_t { kLeft, kRight, kBoth };
std::string_view strip_spaces(std::string_view text, Side side = Side::kBoth);
std::string_view strip_characters(std::string_view text, std::string_view characters, Side side);

}  // namespace tokamak::jinja
