// Nfa: how a regular expression becomes an automaton: its parts as states that may stand side by
// side, which sets of states then make deterministic.
#pragma once
#include <utility>
#include <vector>

#include "text/grammar/automaton.h"

namespace tokamak::grammar {

using CharacterRanges = std::vector<std::pair<char32_t, char32_t>>;

/// Ascending and apart.
CharacterRanges united_ranges(CharacterRanges ranges);
/// All other characters. REQUIRES: ascending and apart.
CharacterRanges other_ranges(const CharacterRanges& ranges);

class Nfa {
 public:
  static constexpr size_t kMaxStates = 100000;

  struct State {
    enum class Kind : uint8_t { kSplit, kBegin, kEnd, kCharacter, kMatch };
    Kind kind = Kind::kMatch;
    uint32_t next = 0, other = 0;
    uint32_t ranges = 0;  // kCharacter: index of a class
  };

  uint32_t add(const State& state);
  uint32_t split(uint32_t next, uint32_t other) {
    return add({.kind = State::Kind::kSplit, .next = next, .other = other});
  }
  uint32_t character(CharacterRanges ranges, uint32_t next);
  State& state(uint32_t number) { return states_[number]; }
  bool is_full() const { return states_.size() >= kMaxStates; }

  /// Nothing where it would be too large.
  AutomatonOr determined(uint32_t start) const;

 private:
  using Set = std::vector<uint32_t>;
  Set closed(Set open, bool at_begin, bool at_end) const;
  bool matches(const Set& set) const;

  std::vector<State> states_;
  std::vector<CharacterRanges> classes_;
};

}  // namespace tokamak::grammar
