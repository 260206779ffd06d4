// GrammarPlaces: where a text may stand in a grammar, by number, and what a byte makes of it.
//
// A text stands at a set of threads, each a state that takes a byte and the returns that are open
// after it. What all of them return to is kept apart: a place holds the threads with the returns
// that differ, a stack the rest. So a place inside a string is the same wherever the string stands,
// and what follows from it alone, such as a mask of tokens, is found once.
//
// Places and stacks are numbered, and steps are remembered: a table that fills itself.
#pragma once
#include <array>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "text/grammar/grammar.h"

namespace tokamak {

class GrammarPlaces {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// More threads at once are taken for a grammar that goes wrong.
  static constexpr size_t kMaxThreads = 4096;
  /// The work of a place, and of all places between two calls of renew_budget(): threads that are
  /// followed, and returns that are looked at for them. Both bound how long a grammar may keep the
  /// thread that follows it.
  static constexpr uint64_t kMaxPlaceWork = uint64_t{1} << 16, kMaxWork = uint64_t{1} << 20;
  /// The number of endless repetitions, or of a need for more without an end.
  static constexpr uint32_t kEndless = UINT32_MAX;

  /// A return that is open and those below it; where room > 0, a repetition that the state is and
  /// that needs `need` rounds and has room for `room`, the one in flight included.
  struct Open {
    uint32_t state = 0, need = 0, room = 0, below = kNone;
    bool operator==(const Open&) const = default;
  };
  struct Thread {
    uint32_t state = 0, stack = kNone;
    auto operator<=>(const Thread&) const = default;
  };
  struct Place {
    std::vector<Thread> threads;  // at states that take a byte; ascending
    bool leaves = false;          // a thread has come to its end, and goes on with the stack
    std::array<uint32_t, 256> next;
  };
  struct Position {
    uint32_t place = 0, stack = kNone;
    bool operator==(const Position&) const = default;
  };

  /// REQUIRES: the grammar outlives this.
  explicit GrammarPlaces(const Grammar& grammar) : grammar_(&grammar) {}

  const Grammar& grammar() const { return *grammar_; }
  /// The beginning of a text.
  Position start() { return enter(grammar_->root()); }
  /// The position of the rule, or the rest of one, from `state` on, before its first byte.
  Position enter(uint32_t state, uint32_t stack = kNone);
  /// The positions after a text that has come to an end of its place: what the stack's top lets
  /// follow, alone.
  Position below(uint32_t stack);
  /// The same, but together with what the place itself lets follow, until no thread leaves or the
  /// stack is empty.
  Position settled(Position position);
  /// After `byte`; nothing where the grammar does not allow it. REQUIRES: a settled position.
  /// kDead as its place: none.
  Position step(Position position, uint8_t byte);
  static constexpr uint32_t kDead = UINT32_MAX - 1;

  const Place& place(uint32_t number) const { return places_[number]; }
  const Open& open(uint32_t stack) const { return stacks_[stack]; }
  uint32_t stack_of(const Open& open);
  Position place_of(const std::vector<Thread>& begins);

  /// The place with all counts of `limit` or more endless: until that many bytes have followed, it
  /// is the same.
  uint32_t without_counts_from(uint32_t limit, uint32_t place);

  /// Whether some place had more than kMaxThreads or took more work than it may, so that "no" need
  /// not be true: that place is left at once, and takes nothing.
  bool is_too_wide() const { return is_too_wide_; }
  /// The work done so far, for tests.
  uint64_t work() const { return work_; }
  /// Allows kMaxWork for all that follows: for one token, or one mask.
  void renew_budget() { work_limit_ = work_ + kMaxWork; }
  /// Whether it holds so much that it should be made anew.
  bool is_full() const { return places_.size() > kMaxPlaces || stacks_.size() > kMaxStacks; }
  /// The position of another table of the same grammar in this one.
  Position taken_over(const GrammarPlaces& from, Position position);

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX, kEdge = 0x80000000u;
  static constexpr size_t kMaxPlaces = 8192, kMaxStacks = size_t{1} << 17;

  struct Hash {
    size_t operator()(const std::vector<uint32_t>& words) const;
    size_t operator()(const Open& open) const;
    size_t operator()(const Position& position) const;
  };

  uint32_t find_next(uint32_t place, uint8_t byte);
  Position resolved(uint32_t place, const Open& top);
  void continue_with(const Open& top, std::vector<Thread>& threads);
  uint32_t on_top(uint32_t entries, uint32_t stack);
  uint32_t common_stack(const std::vector<Thread>& threads);
  uint32_t without(uint32_t stack, uint32_t base);
  uint32_t number_of(std::vector<Thread> threads, bool leaves);
  uint32_t copied(const GrammarPlaces& from, uint32_t stack);

  const Grammar* grammar_;
  std::vector<Open> stacks_;
  std::unordered_map<Open, uint32_t, Hash> stack_index_;
  std::vector<Place> places_;
  std::unordered_map<std::vector<uint32_t>, uint32_t, Hash> place_index_;
  std::vector<Position> edges_;  // a place, and what it pushes onto the stack
  std::unordered_map<std::vector<uint32_t>, Position, Hash> resolved_;
  std::unordered_map<Position, Position, Hash> settled_;
  std::unordered_map<uint32_t, Position> entered_;
  std::unordered_map<std::vector<uint32_t>, Position, Hash> closed_;  // of what a byte leads to
  // Who was seen in which closure: those without a stack, by state.
  std::vector<uint32_t> seen_in_;
  uint32_t closure_ = 0;
  uint64_t work_ = 0, work_limit_ = kMaxWork;
  bool is_too_wide_ = false;
};

/// Errors: there are too many ways in which a text of the grammar may begin. Whoever compiles one
/// calls it, so that it is refused there, and not by the thread that follows it.
Result<void> check_start(const Grammar& grammar);

}  // namespace tokamak
