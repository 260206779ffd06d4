#include "text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>

namespace tokamak::jinja {
namespace {

int category(char32_t character) {
  return int(utf8proc_category(utf8proc_int32_t(character)));
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

bool is_digit(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
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
