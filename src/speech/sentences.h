// A text in pieces that a model says one after the other: sentences, several short ones together.
//
// A sentence ends with . ! ? … and their like of other scripts, before white space, or with 。 ！
// ？ anywhere; not where a small letter follows, and not after an abbreviation, a single letter or
// the number of an item. What is longer than a piece may be ends after , ; : and their like, else
// at a space. The first piece is short, since somebody waits for its sound.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tokamak {

/// Most characters of a piece.
struct PieceLimits {
  size_t first = 60, others = 200;
};

/// The text may come bit by bit, each of them whole characters.
class SentencePieces {
 public:
  explicit SentencePieces(const PieceLimits& limits = {}) : limits_(limits) {}

  void add(std::string_view text) { text_ += text; }
  /// The next piece, in one line; none where more of the text must be known for it. `is_end`:
  /// nothing follows, and there is one until all of it has been given. Pieces without a letter or a
  /// digit are left out.
  std::optional<std::string> next(bool is_end);

 private:
  PieceLimits limits_;
  std::string text_;  // not given yet
  bool is_first_ = true;
};

}  // namespace tokamak
