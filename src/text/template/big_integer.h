// Integers beyond 64 bits: ids and hashes that pass through templates. They print, compare and
// convert as Python's do; to reckon with them is an error.
#pragma once
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "text/template/runtime.h"

namespace tokamak::jinja {

/// The exact order of two numbers. REQUIRES: numbers, at least one of them a big integer.
std::partial_ordering order_exactly(const Value& left, const Value& right);

/// The decimal digits of a whole number as JSON spells them: without leading zeros and plus.
/// Nothing where `text` is anything else.
std::optional<std::string> plain_digits(std::string_view text);

/// The integer of these digits, as plain_digits gives them, big or not.
Result<Value> integer_of(Runtime& runtime, std::string digits);

/// A finite number without its fraction.
Result<Value> whole_part(Runtime& runtime, double number);

}  // namespace tokamak::jinja
