// Grammar: which texts may be generated, as an automaton with a stack over the bytes of UTF-8.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak {

/// Does not change once it is made and may be used from several threads.
class Grammar {
 public:
  /// A place between two bytes of a rule, and how it goes on from there.
  struct State {
    enum class Kind : uint8_t {
      kByte,    // a byte in [low, high], then `next`
      kSplit,   // `next` or `other`
      kCall,    // the rule that begins at `other`, then `next`
      kRepeat,  // the same, `least` to `most` times; the rule has no empty text
      kReturn,  // the end of the rule
    };
    Kind kind = Kind::kReturn;
    uint8_t low = 0, high = 0;
    uint32_t next = 0, other = 0;
    uint32_t least = 0, most = 0;
  };
  static constexpr uint32_t kNoLimit = UINT32_MAX;  // of `most`
  static constexpr size_t kMaxTextBytes = size_t{1} << 20;
  /// Repetitions are written out, so that a short text may ask for many.
  static constexpr size_t kMaxStates = 1000000;

  /// GBNF (text/grammar/syntax.h); the text that may be generated is what the rule `root` says.
  /// Errors name the line and the rule: what is no GBNF, a rule that is missing, or that begins
  /// with itself, which no automaton of this kind can follow.
  static Result<Grammar> parse(std::string_view gbnf) { return parse(gbnf, {}); }
  /// The same, where the text may call these grammars as rules that it does not have.
  struct Named {
    std::string_view name;
    const Grammar* grammar = nullptr;
  };
  static Result<Grammar> parse(std::string_view gbnf, std::span<const Named> others);
  /// JSON that satisfies a JSON schema (docs/grammars.md has the table of keywords). All that it
  /// lets through is valid. Errors name the keyword and its place where something cannot be held.
  static Result<Grammar> from_json_schema(std::string_view schema);
  /// Texts that a regular expression of ECMA-262 describes as a whole, without what no automaton
  /// can hold: back references, look-around, word boundaries.
  static Result<Grammar> from_regex(std::string_view expression);
  /// One of these texts.
  static Result<Grammar> from_choices(std::span<const std::string> texts);
  /// Any JSON object whose parts lie at most 32 levels deep.
  static Grammar json_object();

  /// REQUIRES: no rule begins with itself. `source`: what it was made from, as source() has it.
  Grammar(std::vector<State> states, uint32_t root, std::string source)
      : states_(std::move(states)), root_(root), source_(std::move(source)) {}

  const std::vector<State>& states() const { return states_; }
  uint32_t root() const { return root_; }
  /// Grammars from the same text in the same notation are the same.
  const std::string& source() const { return source_; }
  /// The rule for a character of a JSON string, where the grammar has one that takes all of them.
  std::optional<uint32_t> json_character() const { return json_character_; }
  void set_json_character(uint32_t rule) { json_character_ = rule; }

 private:
  std::vector<State> states_;
  uint32_t root_ = 0;
  std::string source_;
  std::optional<uint32_t> json_character_;
};

}  // namespace tokamak
