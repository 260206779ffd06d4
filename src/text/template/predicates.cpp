// The tests of Jinja: what may follow `is`.
#include <algorithm>

#include "text/template/arguments.h"
#include "text/template/filters.h"
#include "text/template/operators.h"
#include "text/template/print.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

template <bool (*kHolds)(const Value&)>
Result<bool> plain(Runtime&, const Value& value, const Arguments& given) {
  TOK_TRY(bind("the test", given, {}));
  return kHolds(value);
}

bool is_defined(const Value& value) {
  return !value.is_undefined();
}
bool is_undefined(const Value& value) {
  return value.is_undefined();
}
bool is_none(const Value& value) {
  return value.is_none();
}
bool is_boolean(const Value& value) {
  return value.is_bool();
}
bool is_true(const Value& value) {
  return value.is_bool() && value.as_bool();
}
bool is_false(const Value& value) {
  return value.is_bool() && !value.as_bool();
}
bool is_integer(const Value& value) {
  return (value.is_integer() && !value.is_bool()) || value.is_big_integer();
}
bool is_float(const Value& value) {
  return value.is_float();
}
bool is_number(const Value& value) {
  return value.is_number();
}
bool is_string(const Value& value) {
  return value.is_text();
}
bool is_mapping(const Value& value) {
  return value.is_dict();
}
bool is_iterable(const Value& value) {
  return value.is_undefined() || value.is_text() || value.is_sequence() || value.is_dict() ||
         value.is_loop();
}
bool is_sequence(const Value& value) {
  return value.is_undefined() || value.is_text() || value.is_dict() ||
         (value.is_sequence() && value.as_sequence().is_indexable());
}
bool is_callable(const Value& value) {
  return value.is_callable() || value.is_loop();
}
bool is_escaped(const Value&) {
  return false;
}
bool names_filter(const Value& value) {
  return value.is_text() && find_filter(value.as_text()) != nullptr;
}
bool names_test(const Value& value) {
  return value.is_text() && find_test(value.as_text()) != nullptr;
}

template <CompareOp kOp>
Result<bool> compare(Runtime& runtime, const Value& value, const Arguments& given) {
  TOK_TRY(const auto all, bind("the test", given, {"other"}, 1));
  return apply_compare(runtime, kOp, value, all[0]);
}

Result<bool> same_as(Runtime&, const Value& value, const Arguments& given) {
  TOK_TRY(const auto all, bind("sameas", given, {"other"}, 1));
  return value.same_as(all[0]);
}

Result<bool> rest_is(Runtime& runtime, const Value& value, int64_t divisor, int64_t wanted) {
  TOK_TRY(const Value rest,
          apply_binary(runtime, BinaryOp::kModulo, value, Value::integer(divisor)));
  return equals(runtime, rest, Value::integer(wanted));
}

Result<bool> is_odd(Runtime& runtime, const Value& value, const Arguments& given) {
  TOK_TRY(bind("odd", given, {}));
  return rest_is(runtime, value, 2, 1);
}

Result<bool> is_even(Runtime& runtime, const Value& value, const Arguments& given) {
  TOK_TRY(bind("even", given, {}));
  return rest_is(runtime, value, 2, 0);
}

Result<bool> divisible_by(Runtime& runtime, const Value& value, const Arguments& given) {
  TOK_TRY(const auto all, bind("divisibleby", given, {"num"}, 1));
  TOK_TRY(const int64_t divisor, integer_or(all[0], "num", 0));
  return rest_is(runtime, value, divisor, 0);
}

/// Whether the printed value has a letter of this case and none of the other.
template <bool kUpper>
Result<bool> is_cased(Runtime& runtime, const Value& value, const Arguments& given) {
  TOK_TRY(bind("the test", given, {}));
  TOK_TRY(const std::string text, to_str(runtime, value));
  bool found = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take_character(text, at);
    if (kUpper ? is_lower(c) : is_upper(c)) return false;
    found = found || (kUpper ? is_upper(c) : is_lower(c));
  }
  return found;
}

struct NamedTest {
  std::string_view name;
  Test test;
};

constexpr NamedTest kTests[] = {
    {"defined", plain<is_defined>},
    {"undefined", plain<is_undefined>},
    {"none", plain<is_none>},
    {"boolean", plain<is_boolean>},
    {"true", plain<is_true>},
    {"false", plain<is_false>},
    {"integer", plain<is_integer>},
    {"float", plain<is_float>},
    {"number", plain<is_number>},
    {"string", plain<is_string>},
    {"mapping", plain<is_mapping>},
    {"iterable", plain<is_iterable>},
    {"sequence", plain<is_sequence>},
    {"callable", plain<is_callable>},
    {"escaped", plain<is_escaped>},
    {"filter", plain<names_filter>},
    {"test", plain<names_test>},
    {"eq", compare<CompareOp::kEqual>},
    {"==", compare<CompareOp::kEqual>},
    {"equalto", compare<CompareOp::kEqual>},
    {"ne", compare<CompareOp::kNotEqual>},
    {"!=", compare<CompareOp::kNotEqual>},
    {"lt", compare<CompareOp::kLess>},
    {"<", compare<CompareOp::kLess>},
    {"lessthan", compare<CompareOp::kLess>},
    {"le", compare<CompareOp::kLessEqual>},
    {"<=", compare<CompareOp::kLessEqual>},
    {"gt", compare<CompareOp::kGreater>},
    {">", compare<CompareOp::kGreater>},
    {"greaterthan", compare<CompareOp::kGreater>},
    {"ge", compare<CompareOp::kGreaterEqual>},
    {">=", compare<CompareOp::kGreaterEqual>},
    {"in", compare<CompareOp::kIn>},
    {"sameas", same_as},
    {"odd", is_odd},
    {"even", is_even},
    {"divisibleby", divisible_by},
    {"upper", is_cased<true>},
    {"lower", is_cased<false>},
};

}  // namespace

Test find_test(std::string_view name) {
  const auto* found = std::ranges::find(kTests, name, &NamedTest::name);
  return found == std::end(kTests) ? nullptr : found->test;
}

}  // namespace tokamak::jinja
