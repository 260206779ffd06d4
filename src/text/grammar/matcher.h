// GrammarMatcher: follows a text, byte by byte, by a grammar.
//
// Where the text may stand in the grammar is a set of threads, each a state that takes a byte and
// the returns that are open after it. Sets are numbered, and what a byte makes of each is
// remembered, so that asking for every token of a vocabulary walks a table that it has filled
// before.
#pragma once
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "text/grammar/grammar.h"

namespace tokamak {

class GrammarMatcher {
 public:
  /// More threads at once are taken for a grammar that goes wrong.
  static constexpr size_t kMaxThreads = 4096;

  /// REQUIRES: the grammar outlives this.
  explicit GrammarMatcher(const Grammar& grammar);

  /// Whether a text of the grammar may go on with these bytes, a character cut at their end
  /// included.
  bool allows(std::string_view bytes);
  /// Takes them. REQUIRES: allows(bytes).
  void push(std::string_view bytes);
  /// Whether the text is one of the grammar as it is.
  bool may_end() const { return places_[here_].may_end; }
  /// Whether something may follow.
  bool may_go_on() const { return !places_[here_].threads.empty(); }
  /// Whether some place had more than kMaxThreads, so that "no" need not be true.
  bool is_too_wide() const { return is_too_wide_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX, kUnknown = UINT32_MAX - 1;
  /// Beyond these everything but the current place is forgotten.
  static constexpr size_t kMaxPlaces = 4096, kMaxStacks = size_t{1} << 17;

  struct Thread {
    uint32_t state = 0, stack = kNone;
    auto operator<=>(const Thread&) const = default;
  };
  struct Open {  // a return, and those after it
    uint32_t state = 0, below = kNone;
    auto operator<=>(const Open&) const = default;
  };
  struct Place {
    std::vector<Thread> threads;  // at states that take a byte; ascending
    bool may_end = false;
    std::array<uint32_t, 256> next;
  };

  uint32_t step(uint32_t place, uint8_t byte);
  uint32_t place_of(const std::vector<Thread>& begins);
  uint32_t stack_of(const Open& open);
  void forget();

  const Grammar* grammar_;
  std::vector<Open> stacks_;
  std::map<Open, uint32_t> stack_index_;
  std::vector<Place> places_;
  std::map<std::pair<std::vector<Thread>, bool>, uint32_t> place_index_;
  uint32_t here_ = 0;
  bool is_too_wide_ = false;
};

}  // namespace tokamak
