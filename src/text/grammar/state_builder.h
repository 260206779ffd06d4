// StateBuilder: the states of a grammar, made from the end: every part is given the state after it
// and gives the one before it.
#pragma once
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "text/grammar/automaton.h"
#include "text/grammar/grammar.h"

namespace tokamak::grammar {

class StateBuilder {
 public:
  using State = Grammar::State;

  /// Whether there were too many states; more are not added, and those that are there not used.
  bool is_full() const { return states_.size() >= Grammar::kMaxStates; }
  size_t size() const { return states_.size(); }
  std::vector<State> take() { return std::move(states_); }

  /// A full one goes on without growing.
  uint32_t add(const State& state);
  /// A state to refer to before it is known what it is.
  uint32_t reserve() { return split(0, 0); }
  void define(uint32_t reserved, uint32_t next) { define(reserved, next, next); }
  void define(uint32_t reserved, uint32_t next, uint32_t other);

  uint32_t byte(uint8_t low, uint8_t high, uint32_t next);
  /// Takes no byte at all.
  uint32_t nothing() { return byte(1, 0, 0); }
  uint32_t end() { return add({.kind = State::Kind::kReturn}); }
  uint32_t split(uint32_t next, uint32_t other);
  uint32_t call(uint32_t rule, uint32_t next);
  uint32_t repeat(uint32_t rule, uint32_t least, uint32_t most, uint32_t next);
  uint32_t choice(const std::vector<uint32_t>& begins);
  /// Adds the states of a whole grammar; gives the number that its first one has now.
  uint32_t append(std::span<const State> states);
  uint32_t text(std::string_view text, uint32_t next);
  /// A character of one of the ranges, in UTF-8.
  uint32_t characters(const std::vector<std::pair<char32_t, char32_t>>& ranges, uint32_t next);
  /// The same as JSON writes it in a string.
  uint32_t json_characters(const std::vector<std::pair<char32_t, char32_t>>& ranges, uint32_t next);
  /// The state of an automaton's texts, then `next`; their characters as in JSON strings, or plain.
  uint32_t automaton(const Automaton& automaton, bool in_json, uint32_t next);

 private:
  void add_range(char32_t first, char32_t last, uint32_t next, std::vector<uint32_t>& begins);
  void add_escaped(char32_t c, uint32_t next, std::vector<uint32_t>& begins);

  std::vector<State> states_;
};

/// Takes out what leads to no end: parts that need what has no text. False where no text is left.
/// REQUIRES: `root` is the first state of a rule.
bool remove_dead_ends(std::vector<Grammar::State>& states, uint32_t root);

}  // namespace tokamak::grammar
