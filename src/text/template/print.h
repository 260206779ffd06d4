// Values as text: Python's str and repr, and the JSON of Hugging Face's `tojson`.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "text/template/runtime.h"

namespace tokamak::jinja {

/// str(value); undefined prints as nothing.
Result<std::string> to_str(Runtime& runtime, const Value& value);
/// repr(value): texts in quotes.
Result<std::string> to_repr(Runtime& runtime, const Value& value);

/// 1.0, 1e+16, 1e-05, inf, nan.
std::string float_repr(double value);

struct JsonStyle {
  bool ascii_only = false;
  bool sort_keys = false;
  std::optional<std::string> indent;  // present: one item per line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
Result<std::string> to_json(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace tokamak::jinja
