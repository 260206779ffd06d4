#include "text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>

namespace tokamak::jinja {
namespace {

int category(char32_t character) {
  return int(utf8proc_category(utf8proc_int32_t(character)));
}

size_t previous_character(std::string_view text, size_t at) {
  --at;
  while (at > 0 && (uint8_t(text[at]) & 0xc0u) == 0x80u) --at;
  return at;
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
    const size_t last = previous_character(text, end);
    size_t at = last;
    if (!drop(take_character(text, at))) break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

}  // namespace

bool is_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    if (uint8_t(text[at]) < 0x80) {
      ++at;
      continue;
    }
    utf8proc_int32_t character = 0;
    const size_t left = std::min<size_t>(text.size() - at, 4);
    const utf8proc_ssize_t used = utf8proc_iterate(bytes + at, utf8proc_ssize_t(left), &character);
    if (used <= 0) return false;
    at += size_t(used);
  }
  return true;
}

size_t next_character(std::string_view text, size_t at) {
  const uint8_t lead = uint8_t(text[at]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return std::min(text.size(), at + length);
}

char32_t take_character(std::string_view text, size_t& at) {
  const size_t end = next_character(text, at);
  const uint32_t lead = uint8_t(text[at]);
  const size_t length = end - at;
  char32_t character = length == 1 ? lead : lead & (0xffu >> (length + 1));
  for (size_t i = at + 1; i < end; ++i) character = (character << 6) | (uint8_t(text[i]) & 0x3fu);
  at = end;
  return character;
}

void append_character(std::string& text, char32_t character) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(utf8proc_int32_t(character), bytes);
  text.append(bytes, bytes + size);
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
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
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
      append_character(out, char32_t(utf8proc_toupper(utf8proc_int32_t(c))));
    }
  }
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take_character(text, at);
    append_character(out, char32_t(utf8proc_tolower(utf8proc_int32_t(c))));
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
