#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <ranges>

#include "base/utf8.h"

namespace tokamak {
namespace {

void write_string(std::string& out, std::string_view text) {
  if (!is_valid_utf8(text)) return write_string(out, repair_utf8(text));
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (uint8_t(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", uint8_t(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void new_line(std::string& out, uint32_t indent, uint32_t depth) {
  if (indent == 0) return;
  out += '\n';
  out.append(size_t{indent} * depth, ' ');
}

void write(std::string& out, const Json& value, uint32_t indent, uint32_t depth) {
  const std::string_view comma = indent == 0 ? ", " : ",";
  switch (value.kind()) {
    case Json::Kind::kNull:
      out += "null";
      return;
    case Json::Kind::kBool:
      out += value.as_bool() ? "true" : "false";
      return;
    case Json::Kind::kInteger:
      out += fmt::format("{}", value.as_integer());
      return;
    case Json::Kind::kBigInteger:
      out += value.as_big_integer().digits;
      return;
    case Json::Kind::kNumber:
      out += std::isfinite(value.as_number()) ? fmt::format("{}", value.as_number()) : "null";
      return;
    case Json::Kind::kString:
      write_string(out, value.as_string());
      return;
    case Json::Kind::kArray: {
      out += '[';
      bool first = true;
      for (const Json& item : value.as_array()) {
        if (!first) out += comma;
        first = false;
        new_line(out, indent, depth + 1);
        write(out, item, indent, depth + 1);
      }
      if (!first) new_line(out, indent, depth);
      out += ']';
      return;
    }
    case Json::Kind::kObject: {
      out += '{';
      bool first = true;
      for (const auto& [name, member] : value.as_object()) {
        if (!first) out += comma;
        first = false;
        new_line(out, indent, depth + 1);
        write_string(out, name);
        out += ": ";
        write(out, member, indent, depth + 1);
      }
      if (!first) new_line(out, indent, depth);
      out += '}';
      return;
    }
  }
}

/// For a Json or a const one.
auto last_member(auto& json, std::string_view name) -> decltype(&json) {
  if (!json.is_object()) return nullptr;
  for (auto& [key, value] : std::views::reverse(json.as_object())) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace

double number_of(std::string_view spelling) {
  double number = 0;
  const char* const begin = spelling.data();
  const char* const end = begin + spelling.size();
  if (std::from_chars(begin, end, number).ec != std::errc::result_out_of_range) {
    return number;
  }
  // Nearer to 0 or to infinity than any other: the place of the first digit that counts decides.
  const size_t e = std::min(spelling.find_first_of("eE"), spelling.size());
  const size_t point = std::min(spelling.find('.'), e);
  int64_t power = int64_t(point) - int64_t(spelling.find_first_of("123456789"));
  if (e < spelling.size()) {
    const bool is_signed = spelling[e + 1] == '-' || spelling[e + 1] == '+';
    int32_t exponent = 0;
    const auto read = std::from_chars(begin + e + (is_signed ? 2 : 1), end, exponent);
    if (read.ec != std::errc()) exponent = INT32_MAX;
    power += spelling[e + 1] == '-' ? -int64_t{exponent} : int64_t{exponent};
  }
  const double magnitude = power > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  return spelling[0] == '-' ? -magnitude : magnitude;
}

Json::Json(uint64_t value) {
  if (value <= uint64_t(INT64_MAX)) {
    value_ = int64_t(value);
  } else {
    value_ = BigInteger{fmt::format("{}", value)};
  }
}

double Json::as_number() const {
  if (is_integer()) return double(as_integer());
  if (is_big_integer()) return number_of(as_big_integer().digits);
  return std::get<double>(value_);
}

const Json* Json::find(std::string_view name) const {
  return last_member(*this, name);
}

Json* Json::find(std::string_view name) {
  return last_member(*this, name);
}

Json& Json::set(std::string name, Json value) {
  if (is_null()) value_ = Object{};
  as_object().emplace_back(std::move(name), std::move(value));
  return *this;
}

std::string Json::dump(uint32_t indent) const {
  std::string out;
  write(out, *this, indent, 0);
  return out;
}

std::string shown(const Json& value, size_t max_bytes) {
  if (value.kind() == Json::Kind::kNumber && !std::isfinite(value.as_number())) {
    if (std::isnan(value.as_number())) return "NaN";
    return value.as_number() > 0 ? "Infinity" : "-Infinity";
  }
  constexpr std::string_view kLeftOut = "...";
  std::string text = value.dump();
  if (text.size() <= max_bytes) return text;
  text.resize(utf8_prefix(text, max_bytes - kLeftOut.size()).size());
  return text += kLeftOut;
}

std::string_view kind_name(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::kNull:
      return "null";
    case Json::Kind::kBool:
      return "a boolean";
    case Json::Kind::kInteger:
      return "an integer";
    case Json::Kind::kBigInteger:
      return "an integer beyond 64 bits";
    case Json::Kind::kNumber:
      return "a number";
    case Json::Kind::kString:
      return "a string";
    case Json::Kind::kArray:
      return "an array";
    case Json::Kind::kObject:
      return "an object";
  }
  return "nothing";
}

}  // namespace tokamak
