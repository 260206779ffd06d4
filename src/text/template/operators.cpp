#include "text/template/operators.h"

#include <cmath>

#include "text/template/big_integer.h"
#include "text/template/format.h"

namespace tokamak::jinja {
namespace {

std::string_view symbol(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSubtract:
      return "-";
    case BinaryOp::kMultiply:
      return "*";
    case BinaryOp::kDivide:
      return "/";
    case BinaryOp::kFloorDivide:
      return "//";
    case BinaryOp::kModulo:
      return "%";
    case BinaryOp::kPower:
      return "**";
  }
  return "?";
}

Failure no_operation(BinaryOp op, const Value& left, const Value& right) {
  if (op == BinaryOp::kAdd && (left.is_text() || (left.is_sequence() && !right.is_number()))) {
    return invalid_input("can only concatenate {0} (not \"{1}\") to {0}", left.type_name(),
                         right.type_name());
  }
  return invalid_input("unsupported operand type(s) for {}: '{}' and '{}'", symbol(op),
                       left.type_name(), right.type_name());
}

Failure too_big(const Value& number) {
  return invalid_input(
      "Templates can print and compare {}, but not reckon with it: it is beyond 64 "
      "bits.",
      number.as_digits());
}

Failure does_not_fit() {
  return invalid_input("The result does not fit into 64 bits.");
}

Result<Value> integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return invalid_input("division by zero");
    return Value::number(std::pow(double(base), double(exponent)));
  }
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) {
      return does_not_fit();
    }
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return does_not_fit();
  }
  return Value::integer(result);
}

Result<Value> integer_arithmetic(BinaryOp op, int64_t left, int64_t right) {
  int64_t result = 0;
  bool overflows = false;
  switch (op) {
    case BinaryOp::kAdd:
      overflows = __builtin_add_overflow(left, right, &result);
      break;
    case BinaryOp::kSubtract:
      overflows = __builtin_sub_overflow(left, right, &result);
      break;
    case BinaryOp::kMultiply:
      overflows = __builtin_mul_overflow(left, right, &result);
      break;
    case BinaryOp::kDivide:
      if (right == 0) return invalid_input("division by zero");
      return Value::number(double(left) / double(right));
    case BinaryOp::kFloorDivide:
    case BinaryOp::kModulo: {
      if (right == 0) return invalid_input("integer division or modulo by zero");
      if (right == -1) {  // the one quotient that can overflow
        if (op == BinaryOp::kModulo) return Value::integer(0);
        overflows = __builtin_sub_overflow(int64_t{0}, left, &result);
        break;
      }
      const int64_t rest = left % right;
      const bool rounds_down = rest != 0 && (rest < 0) != (right < 0);
      result = op == BinaryOp::kModulo ? rest + (rounds_down ? right : 0)
                                       : left / right - (rounds_down ? 1 : 0);
      break;
    }
    case BinaryOp::kPower:
      return integer_power(left, right);
  }
  if (overflows) return does_not_fit();
  return Value::integer(result);
}

Result<Value> float_arithmetic(BinaryOp op, double left, double right) {
  const bool divides =
      op == BinaryOp::kDivide || op == BinaryOp::kFloorDivide || op == BinaryOp::kModulo;
  if (divides && right == 0) return invalid_input("float division by zero");
  switch (op) {
    case BinaryOp::kAdd:
      return Value::number(left + right);
    case BinaryOp::kSubtract:
      return Value::number(left - right);
    case BinaryOp::kMultiply:
      return Value::number(left * right);
    case BinaryOp::kDivide:
      return Value::number(left / right);
    case BinaryOp::kFloorDivide:
      return Value::number(std::floor(left / right));
    case BinaryOp::kModulo: {
      const double rest = std::fmod(left, right);
      return Value::number(rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest);
    }
    case BinaryOp::kPower:
      break;
  }
  if (left < 0 && right != std::floor(right)) {
    return invalid_input("A negative number to a fractional power is no real number.");
  }
  if (left == 0 && right < 0) return invalid_input("0.0 cannot be raised to a negative power");
  return Value::number(std::pow(left, right));
}

Result<Value> repeat(Runtime& runtime, const Value& value, int64_t times) {
  const uint64_t count = times < 0 ? 0 : uint64_t(times);
  const bool is_text = value.is_text();
  const uint64_t size = is_text ? value.as_text().size() : value.as_sequence().items.size();
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, size * (is_text ? 1 : sizeof(Value)), &bytes)) {
    bytes = UINT64_MAX;
  }
  TOK_TRY(runtime.check_room(bytes));
  TOK_TRY(runtime.spend_reading(bytes));
  if (is_text) {
    std::string text;
    if (size > 0) {
      text.reserve(size_t(bytes));
      for (uint64_t i = 0; i < count; ++i) text += value.as_text();
    }
    return runtime.text(std::move(text));
  }
  std::vector<Value> items;
  const std::vector<Value>& from = value.as_sequence().items;
  if (size > 0) {
    for (uint64_t i = 0; i < count; ++i) items.insert(items.end(), from.begin(), from.end());
  }
  return runtime.sequence(std::move(items), value.as_sequence().form);
}

bool can_repeat(const Value& value) {
  return value.is_text() ||
         (value.is_sequence() && (value.as_sequence().is_list() || value.as_sequence().is_tuple()));
}

Result<Value> join_sequences(Runtime& runtime, const Value& left, const Value& right) {
  const Sequence& first = left.as_sequence();
  const Sequence& second = right.as_sequence();
  TOK_TRY(runtime.check_room((first.items.size() + second.items.size()) * sizeof(Value)));
  std::vector<Value> items = first.items;
  items.insert(items.end(), second.items.begin(), second.items.end());
  return runtime.sequence(std::move(items),
                          first.is_list() ? Sequence::Form::kList : Sequence::Form::kTuple);
}

Result<bool> equal_dicts(Runtime& runtime, const Dict& left, const Dict& right) {
  if (left.items.size() != right.items.size()) return false;
  for (const auto& [key, value] : left.items) {
    const Value* other = right.find(key);
    if (other == nullptr) return false;
    TOK_TRY(const bool same, equals(runtime, value, *other));
    if (!same) return false;
  }
  return true;
}

bool comparable_forms(const Sequence& left, const Sequence& right) {
  return (left.is_list() && right.is_list()) || (left.is_tuple() && right.is_tuple());
}

}  // namespace

Result<Value> apply_unary(Runtime& runtime, UnaryOp op, const Value& value) {
  if (op == UnaryOp::kNot) return Value::boolean(!value.truth());
  if (value.is_undefined()) return invalid_input("{}", value.undefined_message());
  if (!value.is_number()) {
    return invalid_input("bad operand type for unary {}: '{}'", op == UnaryOp::kMinus ? '-' : '+',
                         value.type_name());
  }
  if (value.is_big_integer()) {
    if (op == UnaryOp::kPlus) return value;
    const std::string& digits = value.as_digits();
    return integer_of(runtime, digits[0] == '-' ? digits.substr(1) : "-" + digits);
  }
  if (op == UnaryOp::kPlus) {
    return value.is_float() ? value : Value::integer(value.as_integer());
  }
  if (value.is_float()) return Value::number(-value.as_number());
  int64_t result = 0;
  if (__builtin_sub_overflow(int64_t{0}, value.as_integer(), &result)) return does_not_fit();
  return Value::integer(result);
}

Result<Value> apply_binary(Runtime& runtime, BinaryOp op, const Value& left, const Value& right) {
  if (op == BinaryOp::kModulo && left.is_text()) {
    TOK_TRY(std::string text, percent_format(runtime, left.as_text(), right));
    return runtime.text(std::move(text));
  }
  if (left.is_undefined()) return invalid_input("{}", left.undefined_message());
  if (right.is_undefined()) return invalid_input("{}", right.undefined_message());
  if (left.is_integer() && right.is_integer()) {
    return integer_arithmetic(op, left.as_integer(), right.as_integer());
  }
  for (const Value* one : {&left, &right}) {
    if (one->is_big_integer() && left.is_number() && right.is_number()) return too_big(*one);
  }
  if (left.is_number() && right.is_number()) {
    return float_arithmetic(op, left.as_number(), right.as_number());
  }
  if (op == BinaryOp::kAdd) {
    if (left.is_text() && right.is_text()) {
      const uint64_t bytes = left.as_text().size() + right.as_text().size();
      TOK_TRY(runtime.check_room(bytes));
      TOK_TRY(runtime.spend_reading(bytes));
      return runtime.text(left.as_text() + right.as_text());
    }
    if (left.is_sequence() && right.is_sequence() &&
        comparable_forms(left.as_sequence(), right.as_sequence())) {
      return join_sequences(runtime, left, right);
    }
  }
  if (op == BinaryOp::kMultiply) {
    if (can_repeat(left) && right.is_integer()) return repeat(runtime, left, right.as_integer());
    if (can_repeat(right) && left.is_integer()) return repeat(runtime, right, left.as_integer());
  }
  return no_operation(op, left, right);
}

Result<bool> equals(Runtime& runtime, const Value& left, const Value& right) {
  TOK_TRY(runtime.spend_steps(1));
  if (left.is_integer() && right.is_integer()) return left.as_integer() == right.as_integer();
  const bool are_numbers = left.is_number() && right.is_number();
  if (are_numbers && (left.is_big_integer() || right.is_big_integer())) {
    return order_exactly(left, right) == 0;
  }
  if (are_numbers) return left.as_number() == right.as_number();
  if (left.kind() != right.kind()) return false;
  if (left.same_as(right)) return true;
  if (left.is_text()) {
    TOK_TRY(runtime.spend_reading(left.as_text().size()));
    return left.as_text() == right.as_text();
  }
  if (left.is_dict()) return equal_dicts(runtime, left.as_dict(), right.as_dict());
  if (!left.is_sequence()) return false;
  const Sequence& first = left.as_sequence();
  const Sequence& second = right.as_sequence();
  const bool both_ranges =
      first.form == Sequence::Form::kRange && second.form == Sequence::Form::kRange;
  if (!both_ranges && !comparable_forms(first, second)) return false;
  if (first.items.size() != second.items.size()) return false;
  for (size_t i = 0; i < first.items.size(); ++i) {
    TOK_TRY(const bool same, equals(runtime, first.items[i], second.items[i]));
    if (!same) return false;
  }
  return true;
}

Result<std::partial_ordering> order(Runtime& runtime, const Value& left, const Value& right) {
  TOK_TRY(runtime.spend_steps(1));
  if (left.is_undefined()) return invalid_input("{}", left.undefined_message());
  if (right.is_undefined()) return invalid_input("{}", right.undefined_message());
  if (left.is_integer() && right.is_integer()) return left.as_integer() <=> right.as_integer();
  const bool are_numbers = left.is_number() && right.is_number();
  if (are_numbers && (left.is_big_integer() || right.is_big_integer())) {
    return order_exactly(left, right);
  }
  if (are_numbers) return left.as_number() <=> right.as_number();
  if (left.is_text() && right.is_text()) {  // the order of UTF-8 is that of code points
    TOK_TRY(runtime.spend_reading(left.as_text().size()));
    return left.as_text() <=> right.as_text();
  }
  if (left.is_sequence() && right.is_sequence() &&
      comparable_forms(left.as_sequence(), right.as_sequence())) {
    const std::vector<Value>& first = left.as_sequence().items;
    const std::vector<Value>& second = right.as_sequence().items;
    for (size_t i = 0; i < first.size() && i < second.size(); ++i) {
      TOK_TRY(const bool same, equals(runtime, first[i], second[i]));
      if (!same) return order(runtime, first[i], second[i]);
    }
    return first.size() <=> second.size();
  }
  return invalid_input("'<' not supported between instances of '{}' and '{}'", left.type_name(),
                       right.type_name());
}

Result<bool> contains(Runtime& runtime, const Value& container, const Value& item) {
  if (container.is_undefined()) return false;
  if (container.is_text()) {
    if (item.is_undefined()) return invalid_input("{}", item.undefined_message());
    if (!item.is_text()) {
      return invalid_input("'in <string>' requires string as left operand, not {}",
                           item.type_name());
    }
    TOK_TRY(runtime.spend_searching(container.as_text().size(), item.as_text().size()));
    return container.as_text().find(item.as_text()) != std::string::npos;
  }
  if (container.is_dict()) {
    if (!Dict::can_be_key(item) && !item.is_undefined()) {
      return invalid_input("unhashable type: '{}'", item.type_name());
    }
    return container.as_dict().find(item) != nullptr;
  }
  if (!container.is_sequence()) {
    return invalid_input("argument of type '{}' is not iterable", container.type_name());
  }
  TOK_TRY(const auto items, runtime.iterate(container));
  for (const Value& candidate : items) {
    TOK_TRY(const bool same, equals(runtime, candidate, item));
    if (same) return true;
  }
  return false;
}

Result<bool> apply_compare(Runtime& runtime, CompareOp op, const Value& left, const Value& right) {
  switch (op) {
    case CompareOp::kEqual:
      return equals(runtime, left, right);
    case CompareOp::kNotEqual: {
      TOK_TRY(const bool same, equals(runtime, left, right));
      return !same;
    }
    case CompareOp::kIn:
      return contains(runtime, right, left);
    case CompareOp::kNotIn: {
      TOK_TRY(const bool inside, contains(runtime, right, left));
      return !inside;
    }
    case CompareOp::kLess:
    case CompareOp::kLessEqual:
    case CompareOp::kGreater:
    case CompareOp::kGreaterEqual:
      break;
  }
  TOK_TRY(const std::partial_ordering found, order(runtime, left, right));
  switch (op) {
    case CompareOp::kLess:
      return found < 0;
    case CompareOp::kLessEqual:
      return found <= 0;
    case CompareOp::kGreater:
      return found > 0;
    default:
      return found >= 0;
  }
}

}  // namespace tokamak::jinja
