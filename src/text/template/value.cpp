#include "text/template/value.h"

#include <cmath>

#include "base/json.h"
#include "text/template/big_integer.h"

namespace tokamak::jinja {

std::string_view Value::undefined_message() const {
  const std::string* message = std::get<Undefined>(value_).message;
  return message == nullptr ? "the value is undefined" : std::string_view(*message);
}

double Value::as_number() const {
  if (is_big_integer()) return number_of(as_digits());
  return is_float() ? std::get<double>(value_) : double(as_integer());
}

bool Value::truth() const {
  switch (kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
      return as_bool();
    case Kind::kInteger:
      return as_integer() != 0;
    case Kind::kFloat:
      return as_number() != 0;
    case Kind::kText:
      return !as_text().empty();
    case Kind::kSequence:
      return as_sequence().form == Sequence::Form::kGenerator || !as_sequence().items.empty();
    case Kind::kDict:
      return !as_dict().items.empty();
    case Kind::kBigInteger:
    case Kind::kNamespace:
    case Kind::kLoop:
    case Kind::kCallable:
      return true;
  }
  return true;
}

std::string_view Value::type_name() const {
  switch (kind()) {
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInteger:
    case Kind::kBigInteger:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kText:
      return "str";
    case Kind::kDict:
      return "dict";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kCallable:
      return "function";
    case Kind::kSequence:
      break;
  }
  switch (as_sequence().form) {
    case Sequence::Form::kList:
      return "list";
    case Sequence::Form::kTuple:
    case Sequence::Form::kGroup:
      return "tuple";
    case Sequence::Form::kRange:
      return "range";
    case Sequence::Form::kGenerator:
      return "generator";
    case Sequence::Form::kKeys:
      return "dict_keys";
    case Sequence::Form::kValues:
      return "dict_values";
    case Sequence::Form::kItems:
      return "dict_items";
  }
  return "object";
}

namespace {

bool is_nan(const Value& key) {
  return key.is_float() && std::isnan(key.as_number());
}

/// Exact, since an order in which 2^53 and 2^53 + 1 both equal a float is none.
std::partial_ordering order_of(int64_t integer, double number) {
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  if (number >= kEnd) return std::partial_ordering::less;
  if (number < -kEnd) return std::partial_ordering::greater;
  const double whole = std::trunc(number);
  if (integer != int64_t(whole)) return integer <=> int64_t(whole);
  return 0.0 <=> number - whole;
}

/// REQUIRES: no NaN.
std::partial_ordering order_of_numbers(const Value& a, const Value& b) {
  if (a.is_big_integer() || b.is_big_integer()) return order_exactly(a, b);
  if (a.is_float() && b.is_float()) return a.as_number() <=> b.as_number();
  if (b.is_float()) return order_of(a.as_integer(), b.as_number());
  if (a.is_float()) return 0 <=> order_of(b.as_integer(), a.as_number());
  return a.as_integer() <=> b.as_integer();
}

}  // namespace

bool Dict::can_be_key(const Value& key) {
  return key.is_text() || key.is_number() || key.is_none();
}

bool Dict::KeyLess::operator()(const Value& a, const Value& b) const {
  const auto rank = [](const Value& key) { return key.is_none() ? 0 : key.is_number() ? 1 : 2; };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (a.is_text()) return a.as_text() < b.as_text();
  return a.is_number() && order_of_numbers(a, b) < 0;
}

const Value* Dict::find(const Value& key) const {
  if (!can_be_key(key) || is_nan(key)) return nullptr;
  const auto place = places_.find(key);
  return place == places_.end() ? nullptr : &items[place->second].second;
}

const Value* Dict::find(std::string_view key) const {
  const std::string text(key);
  return find(Value::text(&text));
}

void Dict::set(const Value& key, const Value& value) {
  if (is_nan(key)) {  // equals no key, not even itself
    items.emplace_back(key, value);
    return;
  }
  const auto [place, is_new] = places_.try_emplace(key, items.size());
  if (is_new) {
    items.emplace_back(key, value);
  } else {
    items[place->second].second = value;
  }
}

}  // namespace tokamak::jinja
