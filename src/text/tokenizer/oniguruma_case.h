// The literals that Oniguruma takes under (?i) beyond the other case of each: letters in a row that
// one character folds to, such as "ss" for U+00DF, which PCRE2 does not know.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tokamak {

/// Something that may be repeated.
struct Atom {
  enum class Kind : uint8_t { kPlain, kAnchor, kGreedy, kLazy };
  std::string text;
  Kind kind = Kind::kPlain;
  std::optional<char32_t> character = {};  // a literal that nothing repeats
};

/// Whether `c`, which is none of ASCII, stands for several characters under (?i) or belongs to such
/// a row.
bool takes_part_in_folding(char32_t c);

/// The atoms one after the other under (?i). Only rows of letters of ASCII count: for the others
/// there is takes_part_in_folding().
std::string spell_folded(std::span<const Atom> atoms);

}  // namespace tokamak
