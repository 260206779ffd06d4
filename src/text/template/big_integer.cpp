#include "text/template/big_integer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tokamak::jinja {
namespace {

std::string digits_of(double whole) {
  return fmt::format("{:.0f}", whole);
}

/// The digits of an integer, or of a float without its fraction.
std::string digits_of(const Value& number) {
  if (number.is_big_integer()) return number.as_digits();
  if (number.is_integer()) return fmt::format("{}", number.as_integer());
  return digits_of(std::trunc(number.as_number()));
}

}  // namespace

std::partial_ordering order_exactly(const Value& left, const Value& right) {
  for (const Value* one : {&left, &right}) {
    if (one->is_float() && !std::isfinite(one->as_number())) {
      return left.is_float() ? left.as_number() <=> 0.0 : 0.0 <=> right.as_number();
    }
  }
  // A fraction does not matter: floats beyond 64 bits have none.
  const std::string a = digits_of(left), b = digits_of(right);
  const bool a_negative = a[0] == '-', b_negative = b[0] == '-';
  if (a_negative != b_negative) return b_negative <=> a_negative;
  const auto magnitudes = a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
  return a_negative ? 0 <=> magnitudes : magnitudes;
}

std::optional<std::string> plain_digits(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  return (negative && text != "0" ? "-" : "") + std::string(text);
}

Result<Value> integer_of(Runtime& runtime, std::string digits) {
  int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, number).ec == std::errc()) return Value::integer(number);
  return runtime.big_integer(std::move(digits));
}

Result<Value> whole_part(Runtime& runtime, double number) {
  const std::string digits = digits_of(std::trunc(number));
  return integer_of(runtime, digits == "-0" ? "0" : digits);
}

}  // namespace tokamak::jinja
