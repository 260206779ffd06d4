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

bool Dict::can_be_key(const Value& key) {
  return key.is_text() || key.is_number() || key.is_none();
}

size_t Dict::KeyHash::operator()(const Value& key) const {
  if (key.is_text()) return std::hash<std::string_view>{}(key.as_text());
  // All numbers by their value as a double, so that equal keys of different types agree.
  if (key.is_number()) return std::hash<double>{}(key.as_number());
  return 0;
}

bool Dict::KeyEqual::operator()(const Value& a, const Value& b) const {
  if (a.is_text() && b.is_text()) return a.as_text() == b.as_text();
  if (a.is_integer() && b.is_integer()) return a.as_integer() == b.as_integer();
  if (a.is_big_integer() && b.is_big_integer()) return a.as_digits() == b.as_digits();
  if (a.is_big_integer() || b.is_big_integer()) {
    return a.is_number() && b.is_number() && order_exactly(a, b) == 0;
  }
  if (a.is_number() && b.is_number()) return a.as_number() == b.as_number();
  return a.is_none() && b.is_none();
}

const Value* Dict::find(const Value& key) const {
  if (!can_be_key(key)) return nullptr;
  const auto place = places_.find(key);
  return place == places_.end() ? nullptr : &items[place->second].second;
}

const Value* Dict::find(std::string_view key) const {
  const std::string text(key);
  return find(Value::text(&text));
}

void Dict::set(const Value& key, const Value& value) {
  const auto [place, is_new] = places_.try_emplace(key, items.size());
  if (is_new) {
    items.emplace_back(key, value);
  } else {
    items[place->second].second = value;
  }
}

}  // namespace tokamak::jinja
