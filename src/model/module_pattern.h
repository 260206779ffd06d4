// Patterns of PEFT for names of modules, as in alpha_pattern: Python's regular expressions, of
// which those with characters, classes, groups, "|", repetitions, "^" and "$" are known.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak {

struct PatternNode;

class ModulePattern {
 public:
  /// Errors: no regular expression, or one of a kind that is not known.
  static Result<ModulePattern> parse(std::string_view text);

  /// Whether the pattern is all of a module's full name, or all of it after a dot:
  /// `(.*\.)?(PATTERN)$`, from the name's beginning. Reference: peft/utils/other.py,
  /// get_pattern_key().
  bool matches(std::string_view module) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::shared_ptr<const PatternNode> root_;
};

}  // namespace tokamak
