// Sets of numbers as automata over how JSON spells them: digits, perhaps a fraction, no exponent,
// and zero without a sign. A set has every such spelling of each of its numbers.
#pragma once
#include <string>

#include "base/json.h"
#include "text/grammar/automaton.h"

namespace tokamak::schema {

using grammar::Automaton;
using grammar::AutomatonOr;

/// Digits without leading zeros (but a 0 before the point) or, after the point, trailing ones.
struct Decimal {
  bool is_negative = false;
  std::string whole = "0", fraction;
};

/// Errors: not a number, or one with too many digits.
Result<Decimal> decimal_of(const Json& value);

enum class Border : uint8_t { kIncluded, kExcluded };

const Automaton& all_numbers();
/// Numbers without a fraction, spelled without one.
const Automaton& integers();
/// Numbers without a fraction, all spellings.
const Automaton& whole_numbers();
Automaton at_least(const Decimal& value, Border border);
Automaton at_most(const Decimal& value, Border border);
Automaton equal_to(const Decimal& value);
/// Nothing where the remainders are too many.
AutomatonOr multiples_of(const Decimal& value);

}  // namespace tokamak::schema
