#include "text/oniguruma_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tokamak {
namespace {

constexpr size_t kMaxRun = 8;  // some 30 spellings

/// What letters in a row also stand for under (?i), each as the inside of a class.
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

std::optional<std::string> spell_folded(std::span<const Atom> atoms) {
  std::string out;
  while (!atoms.empty()) {
    size_t run = 0;  // how many atoms take part in rows of letters that overlap
    for (size_t i = 0; i == 0 || i < run; ++i) {
      for (const FoldedLetters& row : kFoldedLetters) {
        if (starts_with(atoms.subspan(i), row.letters)) run = std::max(run, i + row.letters.size());
      }
      if (i + 1 >= run) break;
    }
    if (run > kMaxRun) return std::nullopt;
    out += run == 0 ? atoms[0].text : "";
    if (run != 0) {
      // From the end: all spellings of the letters from i on.
      std::vector<std::string> spellings(run + 1);
      for (size_t i = run; i-- > 0;) {
        const std::string plain = atoms[i].text + spellings[i + 1];
        std::string more;
        for (const FoldedLetters& row : kFoldedLetters) {
          if (i + row.letters.size() > run || !starts_with(atoms.subspan(i), row.letters)) continue;
          more += fmt::format("|[{}]{}", row.characters, spellings[i + row.letters.size()]);
        }
        spellings[i] = more.empty() ? plain : "(?:" + plain + more + ")";
      }
      out += spellings[0];
    }
    atoms = atoms.subspan(std::max<size_t>(run, 1));
  }
  return out;
}

}  // namespace tokamak
