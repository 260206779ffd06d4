// Regular expressions as tokenizer.json spells them: Oniguruma's Ruby syntax over UTF-8.
//
// The engine is the platform's: regex_pcre2.cpp natively. A build has exactly one of them.
// Where the syntax means something else to the engine, the pattern is rewritten (oniguruma.h); what
// cannot be rewritten is refused, never run with another meaning.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak {

struct TextRange {
  size_t begin;
  size_t end;
  bool operator==(const TextRange&) const = default;
};

class Regex {
 public:
  static Result<Regex> compile(std::string_view pattern);

  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  /// Appends all matches, from left to right, none overlapping. Fails when the pattern needs more
  /// than max_steps(text.size()) to look for all of them. REQUIRES: valid UTF-8.
  Result<void> find_all(std::string_view text, std::vector<TextRange>& matches) const;

  /// Backtracking steps for a whole text; a pre-tokenizer needs a few for each character. Matches
  /// of a few hundred steps are not counted: there is at most one at each byte.
  static constexpr uint64_t max_steps(size_t text_bytes) {
    return 100'000 + 1000 * uint64_t{text_bytes};
  }

 private:
  struct Compiled;
  explicit Regex(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace tokamak
