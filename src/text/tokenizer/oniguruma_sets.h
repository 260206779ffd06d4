// Sets of characters on their way from Oniguruma's spelling to PCRE2's.
//
// PCRE2 has no class inside a class and no intersection. A set is therefore kept as what may stand
// between brackets, and as patterns that match one character each where brackets do not suffice.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/oniguruma.h"

namespace tokamak {

struct CharSet {
  std::string items;                // stands between brackets
  std::vector<std::string> others;  // patterns for one character

  void add(const CharSet& more);
  /// A pattern that matches one character of the set.
  std::string pattern() const;
  /// A pattern that matches one character outside of the set.
  std::string complement() const;
  CharSet negated() const { return {"", {complement()}}; }
};

/// The characters that belong to both.
CharSet intersection(const CharSet& a, const CharSet& b);

/// The set of \w, \s, \d or \h; nothing for other letters. Capitals are the complements.
std::optional<CharSet> escape_set(char letter);

/// The characters of Oniguruma's \w outside of a class only: the numbers of Latin-1.
CharSet word_outside_of_class();

/// The set of [:name:]; nothing for an unknown name.
std::optional<CharSet> bracket_set(std::string_view name);

/// The set of \p{name}, where case, blanks, "-" and "_" do not count; nothing for an unknown name.
std::optional<CharSet> property_set(std::string_view name, const KnowsProperty& knows_property);

/// The text between the brackets of a class for the other cases of the characters of \p{name},
/// which Oniguruma adds under (?i); nothing where that is not known.
std::optional<std::string> other_cases(std::string_view name);

/// Whether PCRE2 changes what \p{name} matches under (?i).
bool is_property_of_case(std::string_view name);

/// `c` as it may stand anywhere in a pattern of PCRE2, in brackets or not.
void append_literal(std::string& out, char32_t c);

}  // namespace tokamak
