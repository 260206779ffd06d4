// In the browser, whose strings have normal forms.
#include <cstddef>
#include <cstdint>

#include "text/unicode/normal_form.h"

namespace tokamak {
namespace {

extern "C" {
/// The form as NormalForm numbers it. Writes at most `capacity` bytes; how many there are.
__attribute__((import_module("text"), import_name("normalize"))) size_t
tokamak_normalize(uint32_t form, const char* text, size_t bytes, char* out, size_t capacity);
/// Writes at most 12 bytes; how many there are.
__attribute__((import_module("text"), import_name("fold"))) size_t tokamak_fold(uint32_t character,
                                                                                char* out);
}

}  // namespace

void append_normal_form(std::string& out, std::string_view text, NormalForm form) {
  const auto write = [&](std::string& to) {
    return tokamak_normalize(uint32_t(form), text.data(), text.size(), to.data(), to.size());
  };
  std::string found(3 * text.size(), '\0');  // as long as decompositions mostly are
  const size_t size = write(found);
  const bool fits = size <= found.size();
  found.resize(size);
  if (!fits) write(found);
  out += found;
}

void append_folded(std::string& out, char32_t character) {
  char folded[12];
  out.append(folded, tokamak_fold(character, folded));
}

}  // namespace tokamak
