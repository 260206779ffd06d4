#include "text/unicode/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace tokamak {
namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(utf8proc_int32_t(c));
}

utf8proc_option_t form_options(NormalForm form) {
  switch (form) {
    case NormalForm::kNfc:
      return utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    case NormalForm::kNfd:
      return utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
    case NormalForm::kNfkc:
      return utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
    case NormalForm::kNfkd:
      break;
  }
  return utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
}

uint32_t combining_class(utf8proc_int32_t c) {
  return uint32_t(utf8proc_get_property(c)->combining_class);
}

/// Canonical ordering: marks by class, those of one class as they came. utf8proc's own is quadratic
/// in the length of a run of marks, and std::stable_sort of this library is deprecated in clang.
void sort_marks(std::vector<utf8proc_int32_t>& chars) {
  struct Mark {
    uint32_t order;
    size_t place;
    utf8proc_int32_t c;
  };
  std::vector<Mark> marks;
  for (size_t from = 0; from < chars.size(); ++from) {
    marks.clear();
    for (size_t i = from; i < chars.size() && combining_class(chars[i]) != 0; ++i) {
      marks.push_back({combining_class(chars[i]), i, chars[i]});
    }
    if (marks.size() > 1) {
      std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
        return a.order != b.order ? a.order < b.order : a.place < b.place;
      });
      for (size_t i = 0; i < marks.size(); ++i) chars[from + i] = marks[i].c;
    }
    from += marks.size();
  }
}

/// Appends the normal form of `text`, whose neighbours do not interact with it.
void append_normal_form(std::string& out, std::string_view text, utf8proc_option_t options,
                        std::vector<utf8proc_int32_t>& chars) {
  constexpr int kLongestDecomposition = 32;  // U+FDFA has 18
  chars.clear();
  while (!text.empty()) {
    const Utf8Char c = first_char(text);
    text.remove_prefix(c.bytes);
    utf8proc_int32_t parts[kLongestDecomposition];
    int boundary_class = 0;
    const auto count = utf8proc_decompose_char(utf8proc_int32_t(c.value), parts,
                                               kLongestDecomposition, options, &boundary_class);
    TOK_CHECK(count >= 0 && count <= kLongestDecomposition);
    chars.insert(chars.end(), parts, parts + count);
  }
  sort_marks(chars);
  const auto size = utf8proc_normalize_utf32(chars.data(), utf8proc_ssize_t(chars.size()), options);
  TOK_CHECK(size >= 0 && size_t(size) <= chars.size());
  for (utf8proc_ssize_t i = 0; i < size; ++i) append_utf8(out, char32_t(chars[size_t(i)]));
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
  const utf8proc_option_t options = form_options(form);
  std::vector<utf8proc_int32_t> chars;
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
    if (to > from) append_normal_form(out, text.substr(from, to - from), options, chars);
    at = to;
  }
  return out;
}

}  // namespace tokamak
