// Regular expressions of ECMA-262 (its section 22.2, with the flag u) as automata over characters.
//
// The features of automata are read: alternatives, groups, classes, escapes, greedy and lazy
// repetitions, ^ and $ anywhere. Back references, look-around, word boundaries and properties of
// Unicode are refused by name.
#pragma once
#include <string_view>

#include "base/result.h"
#include "text/grammar/automaton.h"

namespace tokamak::grammar {

enum class Match : uint8_t {
  kWhole,     // the whole text
  kAnywhere,  // some part of it, as JSON Schema has it
};

/// Errors name the character of the expression, counted from 1.
Result<Automaton> automaton_of(std::string_view expression, Match match);

}  // namespace tokamak::grammar
