// The pattern of a Replace or a Split, and how a Split cuts: the spellings of tokenizer.json.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/regex.h"

namespace tokamak {

/// {"String": "..."} or {"Regex": "..."}.
class TextPattern {
 public:
  static Result<TextPattern> from_json(const Json& json);
  explicit TextPattern(std::string literal) : pattern_(std::move(literal)) {}
  explicit TextPattern(Regex regex) : pattern_(std::move(regex)) {}

  Result<void> find_all(std::string_view text, std::vector<TextRange>& matches) const;

  /// `text` with every match replaced by `content`, which is taken literally.
  Result<std::string> replace(std::string_view text, std::string_view content) const;

 private:
  std::variant<std::string, Regex> pattern_;
};

/// The fate of a split's matches.
enum class SplitBehavior : uint8_t {
  kRemoved,
  kIsolated,            // each a piece of its own
  kMergedWithPrevious,  // the end of the piece before
  kMergedWithNext,      // the start of the piece after
  kContiguous,          // neighbouring matches are one piece
};

/// The member `name`, which may be absent when there is a fallback.
Result<SplitBehavior> split_behavior_field(const Json& object, std::string_view name,
                                           std::optional<SplitBehavior> fallback = std::nullopt);

/// Cuts [0, size) at `matches` (in order) and appends the pieces that are not empty. With `invert`
/// the text between matches takes the part of the matches.
void cut(size_t size, const std::vector<TextRange>& matches, SplitBehavior behavior, bool invert,
         std::vector<TextRange>& pieces);

}  // namespace tokamak
