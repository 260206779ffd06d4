// Automaton: a set of texts as a deterministic automaton over characters, with what sets have:
// union, intersection, difference. Spellings of numbers and the values of strings are such sets.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tokamak::grammar {

inline constexpr char32_t kLastCharacter = 0x10FFFF;

class Automaton {
 public:
  /// The limit of states; operations that would need more give nothing.
  static constexpr size_t kMaxStates = 20000;

  struct Edge {
    char32_t first = 0, last = 0;
    uint32_t next = 0;
    bool operator==(const Edge&) const = default;
  };
  struct State {
    bool accepts = false;
    std::vector<Edge> edges;  // ascending, apart
  };

  /// No text at all.
  Automaton() : states_(1) {}
  /// State 0 is where texts begin.
  explicit Automaton(std::vector<State> states) : states_(std::move(states)) {}
  static Automaton any();
  static Automaton of(const std::vector<std::string_view>& texts);

  const std::vector<State>& states() const { return states_; }
  bool is_empty() const { return states_.size() == 1 && !states_[0].accepts && !has_edges(); }
  bool accepts(std::string_view text) const;
  /// The texts, ascending, where there are at most `most`.
  std::optional<std::vector<std::u32string>> texts(size_t most) const;

  /// The same set with the fewest states.
  Automaton reduced() const;

 private:
  bool has_edges() const { return !states_[0].edges.empty(); }

  std::vector<State> states_;
};

using AutomatonOr = std::optional<Automaton>;

AutomatonOr united(const Automaton& a, const Automaton& b);
AutomatonOr intersection(const Automaton& a, const Automaton& b);
AutomatonOr difference(const Automaton& a, const Automaton& b);
/// The texts of `a` with `least` to `most` characters.
AutomatonOr with_length(const Automaton& a, uint32_t least, uint32_t most);

}  // namespace tokamak::grammar
