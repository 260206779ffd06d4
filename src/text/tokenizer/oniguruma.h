// Regular expressions of tokenizer.json in the spelling of PCRE2.
//
// `tokenizers` runs them with Oniguruma, in its own syntax over UTF-8. Much of it looks like
// PCRE2's and means something else: a class may stand inside a class, "a{2}+" is "(?:a{2})+", (?m)
// lets "." match line ends, \h is a hexadecimal digit. What PCRE2 has no spelling for is refused by
// name; no construct keeps its letters and changes its meaning.
//
// One difference stays: under (?i) a class stands for single characters only, while Oniguruma also
// lets a class with U+00DF match "ss" where the match would fail otherwise.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tokamak {

/// Whether the engine knows a property under this name, such as "Lu" or "sc:Han".
using KnowsProperty = std::function<bool(const std::string& name)>;

/// The result needs UTF mode, Unicode properties, "^" and "$" at lines, and "\n" as the line end.
/// Errors name the construct and the character, counted from 1, at which it stands. REQUIRES: valid
/// UTF-8.
Result<std::string> oniguruma_to_pcre2(std::string_view pattern,
                                       const KnowsProperty& knows_property);

}  // namespace tokamak
