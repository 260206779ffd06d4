#include "text/template/unicode.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/unicode/normal_form.h"

namespace tokamak::jinja {
namespace {

constexpr std::string_view kSigma = "\u03a3";

int category(char32_t character) {
  return int(utf8proc_category(utf8proc_int32_t(character)));
}

// Digits that are no decimals (Numeric_Type=Digit, Unicode 14).
struct Range {
  char32_t first, last;
};
constexpr Range kOtherDigits[] = {
    {0xb2, 0xb3},       {0xb9, 0xb9},       {0x1369, 0x1371},   {0x19da, 0x19da},
    {0x2070, 0x2070},   {0x2074, 0x2079},   {0x2080, 0x2089},   {0x2460, 0x2468},
    {0x2474, 0x247c},   {0x2488, 0x2490},   {0x24ea, 0x24ea},   {0x24f5, 0x24fd},
    {0x24ff, 0x24ff},   {0x2776, 0x277e},   {0x2780, 0x2788},   {0x278a, 0x2792},
    {0x10a40, 0x10a43}, {0x10e60, 0x10e68}, {0x11052, 0x1105a}, {0x1f100, 0x1f10a},
};

// Case_Ignorable by Word_Break: apostrophes, points and colons.
constexpr char32_t kWithinWords[] = {0x27,   0x2e,   0x3a,   0xb7,   0x387,  0x55f,
                                     0x5f4,  0x2018, 0x2019, 0x2024, 0x2027, 0xfe13,
                                     0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a};

/// Case_Ignorable: what stands between the letters of a word.
bool is_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return std::ranges::find(kWithinWords, c) != std::end(kWithinWords);
  }
}

bool is_cased(char32_t c) {
  return category(c) >= UTF8PROC_CATEGORY_LU && category(c) <= UTF8PROC_CATEGORY_LT;
}

/// Whether a word has letters before `begin` and none after `end`.
bool ends_word(std::string_view text, size_t begin, size_t end) {
  while (begin > 0 && is_ignorable(last_char(text.substr(0, begin)).value)) {
    begin -= last_char(text.substr(0, begin)).bytes;
  }
  if (begin == 0 || !is_cased(last_char(text.substr(0, begin)).value)) return false;
  while (end < text.size() && is_ignorable(first_char(text.substr(end)).value)) {
    end = next_character(text, end);
  }
  return end == text.size() || !is_cased(first_char(text.substr(end)).value);
}

template <typename Drop>
std::string_view strip(std::string_view text, Side side, const Drop& drop) {
  size_t begin = 0;
  size_t end = text.size();
  while (side != Side::kRight && begin < end) {
    size_t next = begin;
    if (!drop(take_character(text, next))) break;
    begin = next;
  }
  while (side != Side::kLeft && begin < end) {
    const Utf8Char last = last_char(text.substr(0, end));
    if (!drop(last.value)) break;
    end -= last.bytes;
  }
  return text.substr(begin, end - begin);
}

}  // namespace

size_t next_character(std::string_view text, size_t at) {
  return at + first_char(text.substr(at)).bytes;
}

char32_t take_character(std::string_view text, size_t& at) {
  const Utf8Char c = first_char(text.substr(at));
  at += c.bytes;
  return c.value;
}

size_t character_count(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(),
                              [](char c) { return (uint8_t(c) & 0xc0u) != 0x80u; }));
}

size_t character_offset(std::string_view text, size_t index) {
  size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at = next_character(text, at);
  return at;
}

bool is_space(char32_t c) {
  return is_whitespace(c) || (c >= 0x1c && c <= 0x1f);
}

bool is_letter(char32_t c) {
  const int kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal_digit(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
}

bool is_digit(char32_t c) {
  return is_decimal_digit(c) || std::ranges::any_of(kOtherDigits, [c](const Range& range) {
           return c >= range.first && c <= range.last;
         });
}

bool is_alphanumeric(char32_t c) {
  return is_letter(c) || is_numeric(c);
}

bool is_upper(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LU;
}

bool is_lower(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LL;
}

bool is_printable(char32_t c) {
  if (c == ' ') return true;
  const int kind = category(c);
  return kind != UTF8PROC_CATEGORY_CN && !(kind >= UTF8PROC_CATEGORY_ZS);
}

std::string to_upper(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take_character(text, at);
    if (c == 0xdf) {
      out += "SS";  // the one common letter whose upper case is two letters
    } else {
      append_utf8(out, char32_t(utf8proc_toupper(utf8proc_int32_t(c))));
    }
  }
  return out;
}

std::string lower_at(std::string_view text, size_t begin, size_t end) {
  const std::string_view character = text.substr(begin, end - begin);
  if (character != kSigma) return tokamak::to_lower(character);
  return ends_word(text, begin, end) ? "\u03c2" : "\u03c3";
}

std::string to_lower(std::string_view text) {
  std::string out;
  for (size_t at = 0;;) {
    const size_t sigma = std::min(text.find(kSigma, at), text.size());
    out += tokamak::to_lower(text.substr(at, sigma - at));
    if (sigma == text.size()) return out;
    at = sigma + kSigma.size();
    out += lower_at(text, sigma, at);
  }
}

std::string fold_case(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) append_folded(out, take_character(text, at));
  return out;
}

std::string_view strip_spaces(std::string_view text, Side side) {
  return strip(text, side, is_space);
}

std::string_view strip_characters(std::string_view text, std::string_view characters, Side side) {
  return strip(text, side, [characters](char32_t c) {
    for (size_t at = 0; at < characters.size();) {
      if (take_character(characters, at) == c) return true;
    }
    return false;
  });
}

}  // namespace tokamak::jinja
