// PromptLookup: guesses what follows in a sequence from what followed the same tokens earlier in
// it: prompt lookup decoding (Saxena 2023, github.com/apoorvumang/prompt-lookup-decoding). Answers
// that quote, edit or continue their prompt repeat long parts of it; others cost a few hash
// lookups.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tokamak {

struct Draft {
  std::vector<uint32_t> ids;  // what may follow; none: nothing is known
  uint32_t match = 0;         // how many tokens before it are as they were then, up to kMaxMatch
};

class PromptLookup {
 public:
  static constexpr uint32_t kMaxMatch = 16;

  /// At most `most` tokens that followed the last place at which the end of `ids` stood before: its
  /// last three tokens, else its last two, else its last one. Where that place is near the end,
  /// they go around. Takes the time of the tokens that are new since the last call. REQUIRES: `ids`
  /// begin with those of the last call.
  Draft draft(std::span<const uint32_t> ids, uint32_t most);

 private:
  static constexpr uint32_t kLongest = 3;

  /// The ends of the tokens before a token, by their hash: of the last ones. Others with the same
  /// hash have no place then; the reader compares.
  using Table = std::vector<uint32_t>;

  size_t place_of(std::span<const uint32_t> gram) const;
  void add(std::span<const uint32_t> ids, size_t end);

  std::array<Table, kLongest> tables_;
  size_t indexed_ = 0;  // ends of grams that are in the tables
};

}  // namespace tokamak
