// The values a chat template computes with. They print, compare and convert as Python's do.
//
// A Value is a small handle, free to copy; texts, sequences and dicts live in the Runtime of one
// rendering and are never changed once made. Only a namespace can change. So no value contains
// itself except through a namespace, and nothing is freed before the rendering ends.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tokamak::jinja {

struct Sequence;
struct Dict;
struct Namespace;
struct Loop;
struct Callable;

enum class Kind : uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInteger,
  kBigInteger,
  kFloat,
  kText,
  kSequence,
  kDict,
  kNamespace,
  kLoop,
  kCallable,
};

/// Why a value is undefined; all undefined values are equal.
struct Undefined {
  const std::string* message = nullptr;
  bool operator==(const Undefined&) const { return true; }
};
/// An integer beyond 64 bits, as JSON spells it.
struct Digits {
  const std::string* text = nullptr;
  bool operator==(const Digits& other) const { return *text == *other.text; }
};
struct None {
  bool operator==(const None&) const { return true; }
};

class Value {
 public:
  Value() = default;  // undefined, without a message of its own

  /// `message` says what is missing; it must outlive the value.
  static Value undefined(const std::string* message) { return Value(Undefined{message}); }
  static Value none() { return Value(None{}); }
  static Value boolean(bool value) { return Value(value); }
  static Value integer(int64_t value) { return Value(value); }
  /// `digits` must outlive the value.
  static Value big_integer(const std::string* digits) { return Value(Digits{digits}); }
  static Value number(double value) { return Value(value); }
  static Value text(const std::string* value) { return Value(value); }
  static Value sequence(const Sequence* value) { return Value(value); }
  static Value dict(const Dict* value) { return Value(value); }
  static Value space(Namespace* value) { return Value(value); }
  static Value loop(Loop* value) { return Value(value); }
  static Value callable(const Callable* value) { return Value(value); }

  Kind kind() const { return Kind(value_.index()); }
  bool is_undefined() const { return kind() == Kind::kUndefined; }
  bool is_none() const { return kind() == Kind::kNone; }
  bool is_bool() const { return kind() == Kind::kBool; }
  /// Whether it is an integer of at most 64 bits. A boolean is one, too, like in Python.
  bool is_integer() const { return kind() == Kind::kInteger || is_bool(); }
  bool is_big_integer() const { return kind() == Kind::kBigInteger; }
  bool is_float() const { return kind() == Kind::kFloat; }
  bool is_number() const { return is_integer() || is_big_integer() || is_float(); }
  bool is_text() const { return kind() == Kind::kText; }
  bool is_sequence() const { return kind() == Kind::kSequence; }
  bool is_dict() const { return kind() == Kind::kDict; }
  bool is_namespace() const { return kind() == Kind::kNamespace; }
  bool is_loop() const { return kind() == Kind::kLoop; }
  bool is_callable() const { return kind() == Kind::kCallable; }

  /// REQUIRES: the matching is_...().
  int64_t as_integer() const { return is_bool() ? int64_t{as_bool()} : std::get<int64_t>(value_); }
  const std::string& as_digits() const { return *std::get<Digits>(value_).text; }
  /// Infinite for integers beyond all floats.
  double as_number() const;
  bool as_bool() const { return std::get<bool>(value_); }
  const std::string& as_text() const { return *std::get<const std::string*>(value_); }
  const Sequence& as_sequence() const { return *std::get<const Sequence*>(value_); }
  const Dict& as_dict() const { return *std::get<const Dict*>(value_); }
  Namespace& as_namespace() const { return *std::get<Namespace*>(value_); }
  Loop& as_loop() const { return *std::get<Loop*>(value_); }
  const Callable& as_callable() const { return *std::get<const Callable*>(value_); }

  /// Why the value is undefined, for an error. REQUIRES: is_undefined().
  std::string_view undefined_message() const;

  /// The same object, or the same plain value: Python's `is`.
  bool same_as(const Value& other) const { return value_ == other.value_; }

  /// The truth for `if`.
  bool truth() const;

  /// The name of the type as Python spells it: "str", "dict", ...
  std::string_view type_name() const;

 private:
  using Storage = std::variant<Undefined, None, bool, int64_t, Digits, double, const std::string*,
                               const Sequence*, const Dict*, Namespace*, Loop*, const Callable*>;
  explicit Value(Storage value) : value_(value) {}

  Storage value_;
};

/// Everything that is iterated item by item; the form decides how it prints and what it allows.
struct Sequence {
  enum class Form : uint8_t {
    kList,
    kTuple,
    kGroup,  // a tuple whose items are also called `grouper` and `list`
    kRange,
    kGenerator,  // what map, select and the like give: can be walked once
    kKeys,
    kValues,
    kItems,
  };
  std::vector<Value> items;
  Form form = Form::kList;
  uint32_t depth = 1;             // levels of sequences and dicts, this one included
  mutable bool consumed = false;  // generators only

  bool is_list() const { return form == Form::kList; }
  bool is_tuple() const { return form == Form::kTuple || form == Form::kGroup; }
  bool is_indexable() const { return is_list() || is_tuple() || form == Form::kRange; }
};

/// Keys are texts, numbers, booleans or none, in the order of insertion; 1, 1.0 and true are one
/// key.
struct Dict {
  std::vector<std::pair<Value, Value>> items;
  uint32_t depth = 1;

  static bool can_be_key(const Value& key);

  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  /// REQUIRES: can_be_key(key).
  void set(const Value& key, const Value& value);

 private:
  /// An order and no hash: keys are strangers', who could choose those that fall into one bucket.
  struct KeyLess {
    bool operator()(const Value& a, const Value& b) const;
  };
  std::map<Value, size_t, KeyLess> places_;
};

struct Namespace {
  Dict attributes;
};

}  // namespace tokamak::jinja
