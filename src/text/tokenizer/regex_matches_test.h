// The part that tests of regular expressions and of their translation share.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/regex.h"

namespace tokamak {

/// The matches of `pattern` in `text`, with "|" between them.
inline std::string matches_of(std::string_view pattern, std::string_view text) {
  auto regex = Regex::compile(pattern);
  if (!regex) return regex.error().message;
  std::vector<TextRange> matches;
  if (auto found = regex->find_all(text, matches); !found) return found.error().message;
  std::string joined;
  for (const TextRange& match : matches) {
    if (!joined.empty()) joined += '|';
    joined += text.substr(match.begin, match.end - match.begin);
  }
  return joined;
}

}  // namespace tokamak
