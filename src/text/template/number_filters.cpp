// Filters about numbers: abs, int, float, round, sum.
#include <charconv>
#include <cmath>
#include <optional>

#include "text/template/arguments.h"
#include "text/template/attributes.h"
#include "text/template/big_integer.h"
#include "text/template/filters.h"
#include "text/template/operators.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

/// Reads a number like Python's float().
std::optional<double> parse_float(std::string_view text) {
  text = strip_spaces(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Reads a number like Python's int().
std::optional<int64_t> parse_integer(std::string_view text, int base) {
  text = strip_spaces(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('-')) return std::nullopt;
  if (text.size() > 2 && text[0] == '0') {
    const char kind = char(text[1] | 0x20);
    if ((kind == 'x' && base == 16) || (kind == 'o' && base == 8) || (kind == 'b' && base == 2)) {
      text.remove_prefix(2);
    }
  }
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return negative ? -number : number;
}

Result<Value> to_integer(Runtime& runtime, double number, const Value& fallback) {
  return std::isfinite(number) ? whole_part(runtime, number) : Result<Value>(fallback);
}

Result<Value> integer(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("int", given, {"default", "base"}));
  TOK_TRY(const int64_t base, integer_or(all[1], "base", 10));
  if (base < 2 || base > 36) return invalid_input("int() base must be from 2 to 36, not {}.", base);
  const Value fallback = all[0].is_undefined() ? Value::integer(0) : all[0];
  if (input.is_integer()) return Value::integer(input.as_integer());
  if (input.is_big_integer()) return input;
  if (input.is_float()) return to_integer(runtime, input.as_number(), fallback);
  if (input.is_undefined()) return invalid_input("{}", input.undefined_message());
  if (!input.is_text()) return fallback;
  TOK_TRY(runtime.spend_reading(input.as_text().size()));
  const std::optional<int64_t> whole = parse_integer(input.as_text(), int(base));
  if (whole) return Value::integer(*whole);
  const std::optional<std::string> digits = plain_digits(strip_spaces(input.as_text()));
  if (digits && base == 10) return integer_of(runtime, *digits);
  const std::optional<double> number = parse_float(input.as_text());
  return number ? to_integer(runtime, *number, fallback) : Result<Value>(fallback);
}

Result<Value> floating(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("float", given, {"default"}));
  const Value fallback = all[0].is_undefined() ? Value::number(0) : all[0];
  if (input.is_number()) {
    const double number = input.as_number();
    if (input.is_big_integer() && !std::isfinite(number)) {
      return invalid_input("int too large to convert to float");
    }
    return Value::number(number);
  }
  if (input.is_undefined()) return invalid_input("{}", input.undefined_message());
  if (!input.is_text()) return fallback;
  TOK_TRY(runtime.spend_reading(input.as_text().size()));
  const std::optional<double> number = parse_float(input.as_text());
  return number ? Value::number(*number) : fallback;
}

Result<Value> absolute(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(bind("abs", given, {}));
  if (input.is_float()) return Value::number(std::fabs(input.as_number()));
  if (input.is_big_integer()) {
    return input.as_digits()[0] == '-' ? apply_unary(runtime, UnaryOp::kMinus, input)
                                       : Result<Value>(input);
  }
  if (!input.is_integer()) {
    return invalid_input("bad operand type for abs(): '{}'", input.type_name());
  }
  if (input.as_integer() < 0) return apply_unary(runtime, UnaryOp::kMinus, input);
  return Value::integer(input.as_integer());
}

/// Half goes to even, decided on the exact binary value, as Python rounds.
double round_half_even(double number, int64_t precision) {
  if (!std::isfinite(number)) return number;
  if (precision < 0) {
    const double unit = std::pow(10.0, double(-precision));
    return std::nearbyint(number / unit) * unit;
  }
  const std::string text = fmt::format("{:.{}f}", number, precision);
  double rounded = number;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

/// To a multiple of 10^zeros, the half to an even one.
Result<Value> round_integer(int64_t number, int64_t zeros) {
  if (zeros > 19) return Value::integer(0);  // 10^19 is more than twice any of them
  uint64_t unit = 1;
  for (int64_t i = 0; i < zeros; ++i) unit *= 10;
  const uint64_t magnitude = number < 0 ? 0 - uint64_t(number) : uint64_t(number);
  const uint64_t rest = magnitude % unit;
  uint64_t count = magnitude / unit;
  if (rest > unit - rest || (rest == unit - rest && count % 2 == 1)) ++count;
  uint64_t rounded = 0;
  if (__builtin_mul_overflow(count, unit, &rounded) || rounded > uint64_t(INT64_MAX)) {
    return invalid_input("The result does not fit into 64 bits.");
  }
  return Value::integer(number < 0 ? -int64_t(rounded) : int64_t(rounded));
}

Result<Value> round(Runtime&, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("round", given, {"precision", "method"}));
  TOK_TRY(const int64_t precision, integer_or(all[0], "precision", 0));
  TOK_TRY(const std::string_view method, text_or(all[1], "method", "common"));
  if (input.is_undefined()) return invalid_input("{}", input.undefined_message());
  if (!input.is_number()) {
    return invalid_input("type {} doesn't define round", input.type_name());
  }
  if (precision < -300 || precision > 300) {
    return invalid_input("A precision of {} is not supported.", precision);
  }
  if (input.is_big_integer() && method == "common" && precision >= 0) return input;
  if (input.is_big_integer()) {
    return invalid_input("{} is beyond 64 bits and cannot be rounded.", input.as_digits());
  }
  if (method == "common") {
    if (input.is_integer()) {
      return precision >= 0 ? Value::integer(input.as_integer())
                            : round_integer(input.as_integer(), -precision);
    }
    return Value::number(round_half_even(input.as_number(), precision));
  }
  if (method != "ceil" && method != "floor") {
    return invalid_input("method must be common, ceil or floor");
  }
  const double unit = std::pow(10.0, double(precision));
  const double scaled = input.as_number() * unit;
  return Value::number((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit);
}

Result<Value> sum(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("sum", given, {"attribute", "start"}));
  TOK_TRY(const auto items, runtime.iterate(input));
  Value total = all[1].is_undefined() ? Value::integer(0) : all[1];
  for (Value item : items) {
    if (!all[0].is_undefined() && !all[0].is_none()) {
      TOK_TRY(item, get_path(runtime, item, all[0]));
    }
    TOK_TRY(total, apply_binary(runtime, BinaryOp::kAdd, total, item));
  }
  return total;
}

constexpr Filter kFilters[] = {
    {"int", integer}, {"float", floating}, {"abs", absolute}, {"round", round}, {"sum", sum},
};

}  // namespace

std::span<const Filter> number_filters() {
  return kFilters;
}

}  // namespace tokamak::jinja
