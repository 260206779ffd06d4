#include "text/unicode/unicode.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/unicode/normal_form.h"

namespace tokamak {
namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(utf8proc_int32_t(c));
}

}  // namespace

bool is_whitespace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_word(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return true;
    case UTF8PROC_CATEGORY_SO:  // Other_Alphabetic: circled and squared letters
      return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
             (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
    default:
      return is_combining_mark(c) || c == 0x200C || c == 0x200D;
  }
}

bool is_numeric(char32_t c) {
  const auto kind = category(c);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL ||
         kind == UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  }
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_combining_mark(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_MN;
}

bool is_control_or_format(char32_t c) {
  const auto kind = category(c);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF ||
         kind == UTF8PROC_CATEGORY_CO;
}

std::string to_lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = first_char(text);
    text.remove_prefix(c.bytes);
    append_utf8(out, char32_t(utf8proc_tolower(utf8proc_int32_t(c.value))));
    if (c.value == 0x130) append_utf8(out, 0x307);  // the only one that becomes two characters
  }
  return out;
}

std::string to_normal_form(std::string_view text, NormalForm form) {
  std::string out;
  out.reserve(text.size());
  // ASCII is its own normal form and never joins what stands before it, so that only the other runs
  // need work, each with the one ASCII character that its marks may join.
  size_t at = 0;
  while (at < text.size()) {
    const auto high = [](char c) { return uint8_t(c) >= 0x80; };
    const size_t run =
        size_t(std::find_if(text.begin() + ptrdiff_t(at), text.end(), high) - text.begin());
    const size_t from = run < text.size() && run > at ? run - 1 : run;
    out += text.substr(at, from - at);
    const size_t to =
        size_t(std::find_if_not(text.begin() + ptrdiff_t(run), text.end(), high) - text.begin());
    if (to > from) append_normal_form(out, text.substr(from, to - from), form);
    at = to;
  }
  return out;
}

}  // namespace tokamak
