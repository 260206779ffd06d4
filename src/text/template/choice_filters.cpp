// Filters that pick: default, attr, map, select, reject, selectattr, rejectattr.
#include <algorithm>

#include "text/template/arguments.h"
#include "text/template/attributes.h"
#include "text/template/filters.h"

namespace tokamak::jinja {
namespace {

Result<Value> fallback(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("default", given, {"default_value", "boolean"}));
  const bool is_missing = input.is_undefined() || (truth_or(all[1], false) && !input.truth());
  if (!is_missing) return input;
  return all[0].is_undefined() ? runtime.text("") : all[0];
}

Result<Value> attribute(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("attr", given, {"name"}, 1));
  TOK_TRY(const std::string_view name, text_or(all[0], "name", ""));
  if (input.is_dict() && input.as_dict().find(name) != nullptr) {  // attributes only, no keys
    return runtime.undefined("'dict object' has no attribute '{}'", name);
  }
  return get_attribute(runtime, input, name);
}

/// The arguments without the first `count` positional ones.
Arguments rest_of(const Arguments& given, size_t count) {
  Arguments rest = given;
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + std::ptrdiff_t(count));
  return rest;
}

const Value* named(const Arguments& given, std::string_view name) {
  const auto found =
      std::ranges::find(given.named, name, [](const auto& argument) { return argument.first; });
  return found == given.named.end() ? nullptr : &found->second;
}

/// The result of map and the filters that choose for an input that counts as false: they look
/// before they walk through it, so that null and 0 are no errors, unlike in other filters.
Result<Value> nothing(Runtime& runtime) {
  return runtime.sequence({}, Sequence::Form::kGenerator);
}

Result<Value> map(Runtime& runtime, const Value& input, const Arguments& given) {
  if (!input.truth()) return nothing(runtime);
  const Value* path = named(given, "attribute");
  const bool by_attribute = given.positional.empty() && path != nullptr;
  if (!by_attribute && (given.positional.empty() || !given.positional[0].is_text())) {
    return invalid_input("map requires a filter argument");
  }
  TOK_TRY(const auto items, runtime.iterate(input));
  const Arguments rest = by_attribute ? Arguments() : rest_of(given, 1);
  const Value* otherwise = by_attribute ? named(given, "default") : nullptr;
  std::vector<Value> mapped;
  for (const Value& item : items) {
    TOK_TRY(const Value value,
            by_attribute ? get_path(runtime, item, *path, otherwise)
                         : apply_filter(runtime, given.positional[0].as_text(), item, rest));
    mapped.push_back(value);
  }
  return runtime.sequence(std::move(mapped), Sequence::Form::kGenerator);
}

/// Keeps the items (or those whose attribute) pass the test with the outcome `wanted`.
Result<Value> choose(Runtime& runtime, const Value& input, const Arguments& given,
                     bool by_attribute, bool wanted) {
  if (!input.truth()) return nothing(runtime);
  const size_t skipped = by_attribute ? 1 : 0;
  if (given.positional.size() < skipped) {
    return invalid_input("selectattr and rejectattr need the name of an attribute.");
  }
  const bool has_test = given.positional.size() > skipped;
  if (has_test && !given.positional[skipped].is_text()) {
    return invalid_input("The name of a test is of type {} where str is expected.",
                         given.positional[skipped].type_name());
  }
  TOK_TRY(const auto items, runtime.iterate(input));
  const Arguments rest = rest_of(given, skipped + (has_test ? 1 : 0));
  std::vector<Value> kept;
  for (const Value& item : items) {
    Value value = item;
    if (by_attribute) {
      TOK_TRY(value, get_path(runtime, item, given.positional[0]));
    }
    bool passes = value.truth();
    if (has_test) {
      TOK_TRY(passes, apply_test(runtime, given.positional[skipped].as_text(), value, rest));
    }
    if (passes == wanted) kept.push_back(item);
  }
  return runtime.sequence(std::move(kept), Sequence::Form::kGenerator);
}

Result<Value> select(Runtime& runtime, const Value& input, const Arguments& given) {
  return choose(runtime, input, given, false, true);
}

Result<Value> reject(Runtime& runtime, const Value& input, const Arguments& given) {
  return choose(runtime, input, given, false, false);
}

Result<Value> selectattr(Runtime& runtime, const Value& input, const Arguments& given) {
  return choose(runtime, input, given, true, true);
}

Result<Value> rejectattr(Runtime& runtime, const Value& input, const Arguments& given) {
  return choose(runtime, input, given, true, false);
}

constexpr Filter kFilters[] = {
    {"default", fallback},      {"d", fallback},
    {"attr", attribute},        {"map", map},
    {"select", select},         {"reject", reject},
    {"selectattr", selectattr}, {"rejectattr", rejectattr},
};

}  // namespace

std::span<const Filter> choice_filters() {
  return kFilters;
}

}  // namespace tokamak::jinja
