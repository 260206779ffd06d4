#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "text/unicode/normal_form.h"

namespace tokamak {
namespace {

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

}  // namespace

void append_normal_form(std::string& out, std::string_view text, NormalForm form) {
  constexpr int kLongestDecomposition = 32;  // U+FDFA has 18
  const utf8proc_option_t options = form_options(form);
  std::vector<utf8proc_int32_t> chars;
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

void append_folded(std::string& out, char32_t character) {
  constexpr int kLongestFolding = 4;  // three are known
  utf8proc_int32_t folded[kLongestFolding];
  int ignored = 0;
  const auto count = utf8proc_decompose_char(utf8proc_int32_t(character), folded, kLongestFolding,
                                             UTF8PROC_CASEFOLD, &ignored);
  for (utf8proc_ssize_t i = 0; i < count; ++i) append_utf8(out, char32_t(folded[i]));
}

}  // namespace tokamak
