// One value under one format specification; both kinds of formatting end here.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/template/runtime.h"

namespace tokamak::jinja {

struct FormatSpec {
  std::string fill = " ";
  char align = '\0';  // '<' '>' '^', '=' for zeros after the sign, 0 for what the type does
  char sign = '-';    // '+' and ' ' also mark numbers that are not negative
  bool alternate = false;
  char grouping = '\0';  // ',' or '_'
  uint32_t width = 0;
  std::optional<uint32_t> precision;
  char type = '\0';
};

inline constexpr uint32_t kMaxPrecision = 1000;

/// Whether the type of a specification is one of integers.
bool is_integer_type(char type);

/// Reads digits at `at` into a number; an error beyond `limit`.
Result<uint32_t> take_count(std::string_view format, size_t& at, uint32_t limit);

Result<std::string> format_value(Runtime& runtime, const Value& value, const FormatSpec& spec);

}  // namespace tokamak::jinja
