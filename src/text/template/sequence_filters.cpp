// Filters about lists and dicts as a whole.
#include <algorithm>

#include "text/template/arguments.h"
#include "text/template/attributes.h"
#include "text/template/filters.h"
#include "text/template/operators.h"
#include "text/template/print.h"
#include "text/template/sort.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

Result<Value> length(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(bind("length", given, {}));
  if (input.is_undefined()) return Value::integer(0);
  if (input.is_dict()) return Value::integer(int64_t(input.as_dict().items.size()));
  if (input.is_text()) {
    TOK_TRY(runtime.spend_reading(input.as_text().size()));
    return Value::integer(int64_t(character_count(input.as_text())));
  }
  if (input.is_sequence() && input.as_sequence().form != Sequence::Form::kGenerator) {
    return Value::integer(int64_t(input.as_sequence().items.size()));
  }
  return invalid_input("object of type '{}' has no len()", input.type_name());
}

Result<Value> first(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(bind("first", given, {}));
  TOK_TRY(const auto items, runtime.iterate(input));
  if (items.empty()) return runtime.undefined("No first item, sequence was empty.");
  return items.front();
}

Result<Value> last(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(bind("last", given, {}));
  TOK_TRY(const auto items, runtime.iterate(input));
  if (items.empty()) return runtime.undefined("No last item, sequence was empty.");
  return items.back();
}

Result<Value> list_of(Runtime& runtime, std::span<const Value> items,
                      Sequence::Form form = Sequence::Form::kList) {
  TOK_TRY(runtime.check_room(items.size() * sizeof(Value)));
  return runtime.sequence(std::vector<Value>(items.begin(), items.end()), form);
}

Result<Value> list(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(bind("list", given, {}));
  TOK_TRY(const auto items, runtime.iterate(input));
  return list_of(runtime, items);
}

Result<Value> join(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("join", given, {"d", "attribute"}));
  TOK_TRY(const std::string between, to_str(runtime, all[0]));
  TOK_TRY(const auto items, runtime.iterate(input));
  std::string out;
  bool is_first = true;
  for (Value item : items) {
    if (!all[1].is_undefined() && !all[1].is_none()) {
      TOK_TRY(item, get_path(runtime, item, all[1]));
    }
    TOK_TRY(const std::string text, to_str(runtime, item));
    TOK_TRY(runtime.check_room(out.size() + between.size() + text.size()));
    TOK_TRY(runtime.spend_reading(between.size()));
    if (!is_first) out += between;
    is_first = false;
    out += text;
  }
  return runtime.text(std::move(out));
}

Result<Value> reverse(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(bind("reverse", given, {}));
  TOK_TRY(const auto items, runtime.iterate(input));
  std::vector<Value> turned(items.rbegin(), items.rend());
  if (!input.is_text()) return runtime.sequence(std::move(turned), Sequence::Form::kGenerator);
  std::string text;
  for (const Value& character : turned) text += character.as_text();
  return runtime.text(std::move(text));
}

std::vector<Value> items_of(const std::vector<Keyed>& keyed) {
  std::vector<Value> items;
  for (const Keyed& one : keyed) items.push_back(one.item);
  return items;
}

Result<Value> sort(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("sort", given, {"reverse", "case_sensitive", "attribute"}));
  TOK_TRY(const auto items, runtime.iterate(input));
  TOK_TRY(auto keyed, with_keys(runtime, items, all[2], truth_or(all[1], false)));
  TOK_TRY(sort_by_key(runtime, keyed, truth_or(all[0], false)));
  return runtime.sequence(items_of(keyed));
}

Result<Value> extreme(Runtime& runtime, std::string_view owner, const Value& input,
                      const Arguments& given, bool wants_most) {
  TOK_TRY(const auto all, bind(owner, given, {"case_sensitive", "attribute"}));
  TOK_TRY(const auto items, runtime.iterate(input));
  TOK_TRY(const auto keyed, with_keys(runtime, items, all[1], truth_or(all[0], false)));
  if (keyed.empty()) return runtime.undefined("No aggregated item, sequence was empty.");
  const Keyed* best = &keyed[0];
  for (const Keyed& one : keyed) {
    TOK_TRY(const auto found,
            wants_most ? order(runtime, best->key, one.key) : order(runtime, one.key, best->key));
    if (found < 0) best = &one;
  }
  return best->item;
}

Result<Value> smallest(Runtime& runtime, const Value& input, const Arguments& given) {
  return extreme(runtime, "min", input, given, false);
}

Result<Value> greatest(Runtime& runtime, const Value& input, const Arguments& given) {
  return extreme(runtime, "max", input, given, true);
}

Result<Value> unique(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("unique", given, {"case_sensitive", "attribute"}));
  TOK_TRY(const auto items, runtime.iterate(input));
  TOK_TRY(const auto keyed, with_keys(runtime, items, all[1], truth_or(all[0], false)));
  Dict seen;
  std::vector<Value> kept;
  for (const Keyed& one : keyed) {
    // Everything undefined is one value; a text that no JSON has stands for it.
    static const std::string kUndefined("\xff");
    const Value key = one.key.is_undefined() ? Value::text(&kUndefined) : one.key;
    if (!Dict::can_be_key(key)) return invalid_input("unhashable type: '{}'", key.type_name());
    if (seen.find(key) != nullptr) continue;
    seen.set(key, Value());
    kept.push_back(one.item);
  }
  return runtime.sequence(std::move(kept), Sequence::Form::kGenerator);
}

Result<Value> groupby(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("groupby", given, {"attribute", "default", "case_sensitive"}, 1));
  TOK_TRY(const auto items, runtime.iterate(input));
  TOK_TRY(auto keyed, with_keys(runtime, items, all[0], truth_or(all[2], false)));
  for (Keyed& one : keyed) {
    if (one.key.is_undefined() && !all[1].is_undefined()) one.key = all[1];
  }
  TOK_TRY(sort_by_key(runtime, keyed, false));
  std::vector<Value> groups;
  for (size_t begin = 0; begin < keyed.size();) {
    size_t end = begin;
    std::vector<Value> members;
    while (end < keyed.size()) {
      TOK_TRY(const bool same, equals(runtime, keyed[begin].key, keyed[end].key));
      if (!same) break;
      members.push_back(keyed[end++].item);
    }
    TOK_TRY(Value name, get_path(runtime, members[0], all[0]));
    if (name.is_undefined()) name = keyed[begin].key;
    TOK_TRY(const Value group, runtime.sequence(std::move(members)));
    TOK_TRY(const Value pair, runtime.sequence({name, group}, Sequence::Form::kGroup));
    groups.push_back(pair);
    begin = end;
  }
  return runtime.sequence(std::move(groups));
}

Result<Value> batch(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("batch", given, {"linecount", "fill_with"}, 1));
  TOK_TRY(const int64_t size, integer_or(all[0], "linecount", 1));
  if (size < 1) return invalid_input("batch needs a size of at least 1 and gets {}.", size);
  TOK_TRY(const auto items, runtime.iterate(input));
  std::vector<Value> batches;
  for (size_t at = 0; at < items.size();) {
    const size_t end = at + std::min(size_t(size), items.size() - at);
    std::vector<Value> one(items.begin() + std::ptrdiff_t(at), items.begin() + std::ptrdiff_t(end));
    if (!all[1].is_undefined() && !all[1].is_none()) {
      uint64_t bytes = 0;
      if (__builtin_mul_overflow(uint64_t(size), sizeof(Value), &bytes)) bytes = UINT64_MAX;
      TOK_TRY(runtime.check_room(bytes));
      one.resize(size_t(size), all[1]);
    }
    TOK_TRY(const Value made, runtime.sequence(std::move(one)));
    batches.push_back(made);
    at = end;
  }
  return runtime.sequence(std::move(batches), Sequence::Form::kGenerator);
}

Result<Value> slice(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("slice", given, {"slices", "fill_with"}, 1));
  TOK_TRY(const int64_t count, integer_or(all[0], "slices", 1));
  if (count < 1 || count > kMaxRange) {
    return invalid_input("slice needs a count from 1 to {} and gets {}.", kMaxRange, count);
  }
  TOK_TRY(const auto items, runtime.iterate(input));
  const size_t each = items.size() / size_t(count);
  const size_t longer = items.size() % size_t(count);
  const bool fills = !all[1].is_undefined() && !all[1].is_none();
  std::vector<Value> slices;
  size_t at = 0;
  for (size_t i = 0; i < size_t(count); ++i) {
    const size_t end = at + each + (i < longer ? 1 : 0);
    std::vector<Value> one(items.begin() + std::ptrdiff_t(at), items.begin() + std::ptrdiff_t(end));
    if (fills && i >= longer) one.push_back(all[1]);
    TOK_TRY(const Value made, runtime.sequence(std::move(one)));
    slices.push_back(made);
    at = end;
  }
  return runtime.sequence(std::move(slices), Sequence::Form::kGenerator);
}

Result<Value> items(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(bind("items", given, {}));
  if (input.is_undefined()) return runtime.sequence({}, Sequence::Form::kGenerator);
  if (!input.is_dict()) return invalid_input("Can only get item pairs from a mapping.");
  std::vector<Value> pairs;
  for (const auto& [key, value] : input.as_dict().items) {
    TOK_TRY(const Value pair, runtime.sequence({key, value}, Sequence::Form::kTuple));
    pairs.push_back(pair);
  }
  return runtime.sequence(std::move(pairs), Sequence::Form::kGenerator);
}

Result<Value> dictsort(Runtime& runtime, const Value& input, const Arguments& given) {
  TOK_TRY(const auto all, bind("dictsort", given, {"case_sensitive", "by", "reverse"}));
  TOK_TRY(const std::string_view by, text_or(all[1], "by", "key"));
  if (by != "key" && by != "value") {
    return invalid_input("You can only sort by either \"key\" or \"value\"");
  }
  if (!input.is_dict()) return invalid_input("dictsort needs a dict, not {}.", input.type_name());
  TOK_TRY(const Value pairs, items(runtime, input, {}));
  TOK_TRY(auto keyed, with_keys(runtime, pairs.as_sequence().items,
                                Value::integer(by == "key" ? 0 : 1), truth_or(all[0], false)));
  TOK_TRY(sort_by_key(runtime, keyed, truth_or(all[2], false)));
  return runtime.sequence(items_of(keyed));
}

constexpr Filter kFilters[] = {
    {"length", length}, {"count", length}, {"first", first},     {"last", last},
    {"list", list},     {"join", join},    {"reverse", reverse}, {"sort", sort},
    {"min", smallest},  {"max", greatest}, {"unique", unique},   {"groupby", groupby},
    {"batch", batch},   {"slice", slice},  {"items", items},     {"dictsort", dictsort},
};

}  // namespace

std::span<const Filter> sequence_filters() {
  return kFilters;
}

}  // namespace tokamak::jinja
