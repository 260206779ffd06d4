#include "text/template/arguments.h"

#include <algorithm>

namespace tokamak::jinja {

Result<std::vector<Value>> bind(std::string_view owner, const Arguments& given,
                                std::initializer_list<std::string_view> names, size_t required) {
  if (given.positional.size() > names.size()) {
    return invalid_input("{}() takes at most {} arguments but {} are given.", owner, names.size(),
                         given.positional.size());
  }
  std::vector<Value> values = given.positional;
  std::vector<bool> is_given(values.size(), true);
  values.resize(names.size());
  is_given.resize(names.size(), false);
  for (const auto& [name, value] : given.named) {
    const size_t place = size_t(std::ranges::find(names, name) - names.begin());
    if (place == names.size()) {
      return invalid_input("{}() has no parameter named '{}'.", owner, name);
    }
    if (is_given[place]) {
      return invalid_input("{}() is given the parameter '{}' twice.", owner, name);
    }
    values[place] = value;
    is_given[place] = true;
  }
  for (size_t i = 0; i < required; ++i) {
    if (!is_given[i]) {
      return invalid_input("{}() needs a value for '{}'.", owner, names.begin()[i]);
    }
  }
  return values;
}

Result<std::string_view> text_or(const Value& value, std::string_view what,
                                 std::string_view fallback) {
  if (value.is_undefined()) return fallback;
  if (!value.is_text()) {
    return invalid_input("'{}' is of type {} where str is expected.", what, value.type_name());
  }
  return std::string_view(value.as_text());
}

Result<int64_t> integer_or(const Value& value, std::string_view what, int64_t fallback) {
  if (value.is_undefined()) return fallback;
  if (value.is_big_integer()) {
    return invalid_input("'{}' is {}, which is beyond 64 bits.", what, value.as_digits());
  }
  if (!value.is_integer()) {
    return invalid_input("'{}' is of type {} where int is expected.", what, value.type_name());
  }
  return value.as_integer();
}

bool truth_or(const Value& value, bool fallback) {
  return value.is_undefined() ? fallback : value.truth();
}

}  // namespace tokamak::jinja
