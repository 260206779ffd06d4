#include "text/tokenizer/oniguruma_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tokamak {
namespace {

/// The characters that letters in a row also stand for under (?i), each as the inside of a class.
/// The longest come first: they win, and no row may begin inside another one.
struct FoldedLetters {
  std::string_view letters, characters;
};
constexpr FoldedLetters kFoldedLetters[] = {
    {"ffi", "\\x{fb03}"},       {"ffl", "\\x{fb04}"}, {"ff", "\\x{fb00}"},
    {"fi", "\\x{fb01}"},        {"fl", "\\x{fb02}"},  {"st", "\\x{fb05}\\x{fb06}"},
    {"ss", "\\x{df}\\x{1e9e}"},
};

/// Whether `letters` are the next literals of `atoms`, in either case.
bool starts_with(std::span<const Atom> atoms, std::string_view letters) {
  if (atoms.size() < letters.size()) return false;
  for (size_t i = 0; i < letters.size(); ++i) {
    const auto c = atoms[i].character;
    const char32_t letter = char32_t(letters[i]);
    if (c != letter && c != letter - 'a' + 'A') return false;
  }
  return true;
}

}  // namespace

bool takes_part_in_folding(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  constexpr Range kRanges[] = {{0xDF, 0xDF},     {0x130, 0x130},   {0x149, 0x149},  {0x1F0, 0x1F0},
                               {0x2BC, 0x2BC},   {0x2BE, 0x2BE},   {0x300, 0x36F},  {0x390, 0x390},
                               {0x399, 0x399},   {0x3B0, 0x3B0},   {0x3B9, 0x3B9},  {0x531, 0x587},
                               {0x1E96, 0x1E9E}, {0x1F00, 0x1FFF}, {0xFB00, 0xFB17}};
  return std::ranges::any_of(kRanges, [&](Range r) { return r.first <= c && c <= r.last; });
}

std::string spell_folded(std::span<const Atom> atoms) {
  std::string out;
  while (!atoms.empty()) {
    const auto* row = std::ranges::find_if(
        kFoldedLetters, [&](const FoldedLetters& r) { return starts_with(atoms, r.letters); });
    const bool is_folded = row != std::end(kFoldedLetters);
    const size_t count = is_folded ? row->letters.size() : 1;
    if (is_folded) out += "(?:";
    for (const Atom& atom : atoms.first(count)) out += atom.text;
    if (is_folded) out += fmt::format("|[{}])", row->characters);
    atoms = atoms.subspan(count);
  }
  return out;
}

}  // namespace tokamak
