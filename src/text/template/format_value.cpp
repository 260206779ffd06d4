#include "text/template/format_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/template/print.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

/// The digits of a number, without its sign.
struct Shown {
  bool negative = false;
  std::string prefix;  // 0x and the like
  std::string text;
};

Failure wrong_type(const FormatSpec& spec, const Value& value) {
  return invalid_input("unknown format code '{}' for object of type '{}'", spec.type,
                       value.type_name());
}

/// Separates thousands; of hexadecimal, octal and binary digits every four.
void group_digits(std::string& text, const FormatSpec& spec) {
  const bool is_decimal = spec.type == 'd' || !is_integer_type(spec.type);
  const size_t step = is_decimal ? 3 : 4;
  const size_t end = is_decimal ? std::min(text.find_first_of(".e%"), text.size()) : text.size();
  for (size_t at = end; at > step; at -= step) text.insert(at - step, 1, spec.grouping);
}

/// Decimal, as wide as the precision says at least.
Shown decimal_digits(std::string digits, const FormatSpec& spec) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.erase(0, 1);
  if (spec.precision && digits.size() < *spec.precision) {
    digits.insert(0, *spec.precision - digits.size(), '0');
  }
  return {.negative = negative, .prefix = {}, .text = std::move(digits)};
}

Result<Shown> integer_digits(const Value& value, const FormatSpec& spec) {
  const bool is_decimal = spec.type == 'd' || spec.type == '\0';
  if (value.is_big_integer()) {
    if (is_decimal) return decimal_digits(value.as_digits(), spec);
    return invalid_input("{} is beyond 64 bits, which only 'd' formats.", value.as_digits());
  }
  const int64_t number = value.is_float() ? int64_t(std::clamp(value.as_number(), -9.2e18, 9.2e18))
                                          : value.as_integer();
  const uint64_t magnitude = number < 0 ? 0 - uint64_t(number) : uint64_t(number);
  Shown digits{.negative = number < 0};
  switch (spec.type) {
    case 'x':
      digits.text = fmt::format("{:x}", magnitude);
      break;
    case 'X':
      digits.text = fmt::format("{:X}", magnitude);
      break;
    case 'o':
      digits.text = fmt::format("{:o}", magnitude);
      break;
    case 'b':
      digits.text = fmt::format("{:b}", magnitude);
      break;
    default:
      return decimal_digits(fmt::format("{}", number), spec);
  }
  if (spec.alternate) digits.prefix = {'0', spec.type};
  return digits;
}

/// The digits of "g", but never a whole number: if there are no decimals, ".0" or an exponent.
std::string general_digits(double magnitude, int precision) {
  precision = std::max(precision, 1);
  std::string scientific = fmt::format("{:.{}e}", magnitude, precision - 1);
  const size_t e = scientific.find('e');
  const char* exponent = scientific.data() + e + (scientific[e + 1] == '+' ? 2 : 1);
  int power = 0;
  std::from_chars(exponent, scientific.data() + scientific.size(), power);
  if (power != precision - 1) {
    std::string text = fmt::format("{:.{}g}", magnitude, precision);
    return text.find_first_of(".e") == text.npos ? text + ".0" : text;
  }
  size_t digits = e;
  while (digits > 1 && scientific[digits - 1] == '0') --digits;
  if (scientific[digits - 1] == '.') --digits;
  return scientific.erase(digits, e - digits);
}

Result<Shown> float_digits(double number, const FormatSpec& spec) {
  Shown digits{.negative = std::signbit(number)};
  const double magnitude = std::fabs(number);
  const int precision = int(spec.precision.value_or(6));
  if (!std::isfinite(number)) {
    digits.negative = digits.negative && !std::isnan(number);
    digits.text = std::isnan(number) ? "nan" : "inf";
    return digits;
  }
  switch (spec.type) {
    case 'f':
    case 'F':
      digits.text = fmt::format("{:.{}f}", magnitude, precision);
      break;
    case 'e':
      digits.text = fmt::format("{:.{}e}", magnitude, precision);
      break;
    case 'E':
      digits.text = fmt::format("{:.{}E}", magnitude, precision);
      break;
    case 'g':
      digits.text = fmt::format("{:.{}g}", magnitude, precision);
      break;
    case 'G':
      digits.text = fmt::format("{:.{}G}", magnitude, precision);
      break;
    case '%':
      digits.text = fmt::format("{:.{}f}%", magnitude * 100, precision);
      break;
    default:
      digits.text = spec.precision ? general_digits(magnitude, precision) : float_repr(magnitude);
  }
  return digits;
}

/// `body` in the middle of the width; `front` stays at the left when zeros fill.
Result<std::string> pad(Runtime& runtime, std::string front, std::string body,
                        const FormatSpec& spec, char default_align) {
  TOK_TRY(runtime.check_room(uint64_t{spec.width} * spec.fill.size() + body.size()));
  TOK_TRY(runtime.spend_reading(uint64_t{spec.width} + body.size()));
  const size_t size = character_count(front) + character_count(body);
  if (size >= spec.width) return front + body;
  const size_t missing = spec.width - size;
  const char align = spec.align == '\0' ? default_align : spec.align;
  const size_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  std::string before, after;
  for (size_t i = 0; i < left; ++i) before += spec.fill;
  for (size_t i = left; i < missing; ++i) after += spec.fill;
  return align == '=' ? front + before + body : before + front + body + after;
}

}  // namespace

bool is_integer_type(char type) {
  return type == 'd' || type == 'x' || type == 'X' || type == 'o' || type == 'b';
}

Result<uint32_t> take_count(std::string_view format, size_t& at, uint32_t limit) {
  uint64_t count = 0;
  for (; at < format.size() && format[at] >= '0' && format[at] <= '9'; ++at) {
    count = count * 10 + uint64_t(format[at] - '0');
    if (count > limit) return invalid_input("A width or precision is more than {}.", limit);
  }
  return uint32_t(count);
}

Result<std::string> format_value(Runtime& runtime, const Value& value, const FormatSpec& spec) {
  static constexpr std::string_view kFloatTypes = "fFeEgG%";
  const bool plain = spec.type == '\0';
  const bool as_float = kFloatTypes.find(spec.type) != kFloatTypes.npos && !plain;
  const bool as_integer = is_integer_type(spec.type);
  const bool plain_number = plain && value.is_number() && !value.is_bool();
  if (as_float || as_integer || plain_number) {
    if (!value.is_number()) return wrong_type(spec, value);
    const bool is_integer =
        as_integer || (plain_number && (value.is_integer() || value.is_big_integer()));
    if (as_integer && value.is_float() && !std::isfinite(value.as_number())) {
      return invalid_input("cannot convert {} to integer", float_repr(value.as_number()));
    }
    TOK_TRY(Shown digits,
            is_integer ? integer_digits(value, spec) : float_digits(value.as_number(), spec));
    if (spec.grouping != '\0') group_digits(digits.text, spec);
    std::string front;
    if (digits.negative) {
      front = "-";
    } else if (spec.sign != '-') {
      front = spec.sign;
    }
    return pad(runtime, front + digits.prefix, std::move(digits.text), spec, '>');
  }
  if (!plain && spec.type != 's') return wrong_type(spec, value);
  TOK_TRY(std::string text, to_str(runtime, value));
  if (spec.precision) text.resize(character_offset(text, *spec.precision));
  return pad(runtime, "", std::move(text), spec, '<');
}

}  // namespace tokamak::jinja
