// JSON documents: parse with positions in the errors, read, write.
//
// Hostile input is expected: nesting and the digits of integers are limited, duplicate names are
// kept so that a reader can refuse them, and nothing is allocated from a claimed size. What Python
// writes beyond JSON is read: NaN, Infinity, and integers of any size.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace tokamak {

/// An integer beyond 64 bits, as it is spelled: no leading zeros, perhaps a minus.
struct BigInteger {
  std::string digits;
  bool operator==(const BigInteger&) const = default;
};

/// The number nearest to a decimal one; infinite beyond all others. REQUIRES: JSON's spelling.
double number_of(std::string_view spelling);

class Json {
 public:
  enum class Kind : uint8_t {
    kNull,
    kBool,
    kInteger,
    kBigInteger,
    kNumber,
    kString,
    kArray,
    kObject
  };
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;  // in the order of the text

  static constexpr uint32_t kMaxDepth = 256;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(int64_t{value}) {}
  Json(int64_t value) : value_(value) {}
  Json(uint32_t value) : value_(int64_t{value}) {}
  Json(uint64_t value);
  Json(BigInteger value) : value_(std::move(value)) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  /// Parses a whole document. Errors say line, column and what was expected; they do not name the
  /// file, which the caller adds with Error::within.
  static Result<Json> parse(std::string_view text);

  Kind kind() const { return Kind(value_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_bool() const { return kind() == Kind::kBool; }
  bool is_integer() const { return kind() == Kind::kInteger; }
  /// Whether the number has more than 64 bits: no integer to a reader of one, but a number.
  bool is_big_integer() const { return kind() == Kind::kBigInteger; }
  bool is_number() const { return is_integer() || is_big_integer() || kind() == Kind::kNumber; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_array() const { return kind() == Kind::kArray; }
  bool is_object() const { return kind() == Kind::kObject; }

  /// REQUIRES: the matching is_...().
  bool as_bool() const { return std::get<bool>(value_); }
  int64_t as_integer() const { return std::get<int64_t>(value_); }
  const BigInteger& as_big_integer() const { return std::get<BigInteger>(value_); }
  /// May be infinite or NaN.
  double as_number() const;
  const std::string& as_string() const { return std::get<std::string>(value_); }
  const Array& as_array() const { return std::get<Array>(value_); }
  const Object& as_object() const { return std::get<Object>(value_); }
  Array& as_array() { return std::get<Array>(value_); }
  Object& as_object() { return std::get<Object>(value_); }

  /// The member `name` of an object, of several the last, as in Python; null when this is no object
  /// or has no such member.
  const Json* find(std::string_view name) const;
  Json* find(std::string_view name);

  /// Appends a member, which hides earlier ones of that name; turns null into an object.
  Json& set(std::string name, Json value);

  /// One line when `indent` is 0, and UTF-8: bytes of texts that are not become U+FFFD. The value
  /// of a double comes back, a whole one as an integer; NaN and infinities become null.
  std::string dump(uint32_t indent = 0) const;

  bool operator==(const Json&) const = default;

 private:
  std::variant<std::monostate, bool, int64_t, BigInteger, double, std::string, Array, Object>
      value_;
};

/// Prints as dump() does, but NaN and infinities as Python spells them: for messages. A text longer
/// than `max_bytes` is cut between two characters, and ends in "...". REQUIRES: max_bytes >= 3.
std::string shown(const Json& value, size_t max_bytes = SIZE_MAX);

/// "an object", "a string", ...: for messages that say what was found.
std::string_view kind_name(Json::Kind kind);

}  // namespace tokamak
