#include "text/template/methods.h"

#include <algorithm>
#include <cmath>

#include "text/template/arguments.h"
#include "text/template/operators.h"

namespace tokamak::jinja {
namespace {

/// The sandbox of the reference keeps templates from changing what they are given.
Result<Value> refuse_change(Runtime&, const Value& self, const Arguments&) {
  return invalid_input("A template cannot change a {}; this method is not allowed.",
                       self.type_name());
}

Result<Value> dict_get(Runtime&, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("get", given, {"key", "default"}, 1));
  const Value* found = self.as_dict().find(all[0]);
  if (found != nullptr) return *found;
  return all[1].is_undefined() ? Value::none() : all[1];
}

Result<Value> dict_view(Runtime& runtime, const Value& self, const Arguments& given,
                        Sequence::Form form) {
  TOK_TRY(bind("items", given, {}));
  const Dict& dict = self.as_dict();
  TOK_TRY(runtime.check_room(dict.items.size() * sizeof(Value)));
  std::vector<Value> view;
  for (const auto& [key, value] : dict.items) {
    if (form == Sequence::Form::kItems) {
      TOK_TRY(const Value pair, runtime.sequence({key, value}, Sequence::Form::kTuple));
      view.push_back(pair);
    } else {
      view.push_back(form == Sequence::Form::kKeys ? key : value);
    }
  }
  return runtime.sequence(std::move(view), form);
}

Result<Value> dict_items(Runtime& runtime, const Value& self, const Arguments& given) {
  return dict_view(runtime, self, given, Sequence::Form::kItems);
}

Result<Value> dict_keys(Runtime& runtime, const Value& self, const Arguments& given) {
  return dict_view(runtime, self, given, Sequence::Form::kKeys);
}

Result<Value> dict_values(Runtime& runtime, const Value& self, const Arguments& given) {
  return dict_view(runtime, self, given, Sequence::Form::kValues);
}

/// A value that cannot be changed needs no copy.
Result<Value> same_again(Runtime&, const Value& self, const Arguments& given) {
  TOK_TRY(bind("copy", given, {}));
  return self;
}

Result<Value> list_count(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("count", given, {"value"}, 1));
  int64_t count = 0;
  for (const Value& item : self.as_sequence().items) {
    TOK_TRY(const bool same, equals(runtime, item, all[0]));
    if (same) ++count;
  }
  return Value::integer(count);
}

Result<Value> list_index(Runtime& runtime, const Value& self, const Arguments& given) {
  TOK_TRY(const auto all, bind("index", given, {"value"}, 1));
  const std::vector<Value>& items = self.as_sequence().items;
  for (size_t i = 0; i < items.size(); ++i) {
    TOK_TRY(const bool same, equals(runtime, items[i], all[0]));
    if (same) return Value::integer(int64_t(i));
  }
  return invalid_input("the value is not in the {}", self.type_name());
}

Result<Value> loop_cycle(Runtime&, const Value& self, const Arguments& given) {
  if (given.positional.empty()) return invalid_input("loop.cycle() needs values to choose from.");
  return given.positional[self.as_loop().index % given.positional.size()];
}

Result<Value> loop_changed(Runtime& runtime, const Value& self, const Arguments& given) {
  Loop& loop = self.as_loop();
  bool same = loop.changed && loop.changed->positional.size() == given.positional.size();
  for (size_t i = 0; same && i < given.positional.size(); ++i) {
    TOK_TRY(same, equals(runtime, loop.changed->positional[i], given.positional[i]));
  }
  if (!same) loop.changed = given;
  return Value::boolean(!same);
}

Result<Value> float_is_integer(Runtime&, const Value& self, const Arguments& given) {
  TOK_TRY(bind("is_integer", given, {}));
  return Value::boolean(self.as_number() == std::floor(self.as_number()));
}

constexpr Method kDictMethods[] = {
    {"get", dict_get},        {"items", dict_items},      {"keys", dict_keys},
    {"values", dict_values},  {"copy", same_again},       {"update", refuse_change},
    {"pop", refuse_change},   {"popitem", refuse_change}, {"setdefault", refuse_change},
    {"clear", refuse_change},
};
constexpr Method kListMethods[] = {
    {"count", list_count},     {"index", list_index},     {"copy", same_again},
    {"append", refuse_change}, {"extend", refuse_change}, {"insert", refuse_change},
    {"pop", refuse_change},    {"remove", refuse_change}, {"reverse", refuse_change},
    {"sort", refuse_change},   {"clear", refuse_change},
};
constexpr Method kTupleMethods[] = {{"count", list_count}, {"index", list_index}};
constexpr Method kLoopMethods[] = {{"cycle", loop_cycle}, {"changed", loop_changed}};
constexpr Method kFloatMethods[] = {{"is_integer", float_is_integer}};

const Method* find_in(std::span<const Method> methods, std::string_view name) {
  const auto found = std::ranges::find(methods, name, &Method::name);
  return found == methods.end() ? nullptr : &*found;
}

}  // namespace

const Method* find_method(const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::kText: {
      const Method* found = find_in(text_query_methods(), name);
      if (found == nullptr) found = find_in(text_change_methods(), name);
      if (found == nullptr) found = find_in(text_split_methods(), name);
      return found;
    }
    case Kind::kDict:
      return find_in(kDictMethods, name);
    case Kind::kLoop:
      return find_in(kLoopMethods, name);
    case Kind::kFloat:
      return find_in(kFloatMethods, name);
    case Kind::kSequence: {
      const Sequence& sequence = object.as_sequence();
      if (sequence.is_list()) return find_in(kListMethods, name);
      return sequence.is_indexable() ? find_in(kTupleMethods, name) : nullptr;
    }
    default:
      return nullptr;
  }
}

}  // namespace tokamak::jinja
