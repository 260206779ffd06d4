// The characters of an expression in Oniguruma's syntax, one by one, and what its escapes and
// classes stand for.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "text/tokenizer/oniguruma_sets.h"

namespace tokamak {

class OnigurumaReader {
 public:
  OnigurumaReader(std::string_view pattern, const KnowsProperty& knows_property)
      : pattern_(pattern), knows_property_(knows_property) {}

  bool at_end() const { return at_ >= pattern_.size(); }
  std::string_view rest() const { return pattern_.substr(at_); }
  size_t position() const { return at_; }
  void skip(size_t bytes) { at_ += bytes; }
  /// The next character. REQUIRES: !at_end().
  char32_t take();
  bool take_if(std::string_view text);

  /// The text before `end`, which is skipped as well; nothing when there is no `end`.
  std::optional<std::string_view> take_until(std::string_view end);

  /// A class after its "[".
  Result<CharSet> take_class(bool ignore_case, uint32_t depth = 0);

  /// The character of an escape after its backslash and `letter`, which is none of a set, an anchor
  /// or a reference; `letter` itself when it means nothing special.
  Result<char32_t> take_escaped(char32_t letter, size_t start);

  /// The set of an escape after its backslash and `letter`; nothing when it is none.
  Result<std::optional<CharSet>> take_escaped_set(char32_t letter, bool ignore_case, bool in_class,
                                                  size_t start);

  /// An error about what stands at byte `start`.
  Failure refuse(std::string_view what, size_t start) const;
  Failure mistake(std::string_view what, size_t start) const;

 private:
  struct ClassItem {
    std::optional<char32_t> character;
    CharSet set;
  };
  std::string place(size_t start) const;
  Result<ClassItem> take_class_item(bool ignore_case, uint32_t depth);
  Result<char32_t> take_code(size_t start, uint32_t base, size_t max_digits);
  Result<char32_t> take_braced_code(size_t start, uint32_t base);
  Result<char32_t> take_bytes(uint8_t first, size_t start);
  Result<CharSet> take_property(bool negated, bool ignore_case, bool in_class, size_t start);
  Result<CharSet> folded(CharSet set, std::string_view name, bool negated, size_t start) const;

  std::string_view pattern_;
  const KnowsProperty& knows_property_;
  size_t at_ = 0;
};

}  // namespace tokamak
