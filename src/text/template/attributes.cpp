#include "text/template/attributes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "text/template/methods.h"
#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

using Found = Result<std::optional<Value>>;

Result<Value> one_or_undefined(Runtime& runtime, std::span<const Value> items, size_t at,
                               std::string_view what) {
  if (at < items.size()) return items[at];
  return runtime.undefined("there is no {} item", what);
}

Found loop_attribute(Runtime& runtime, const Value& value, std::string_view name) {
  const Loop& loop = value.as_loop();
  const int64_t size = int64_t(loop.items.size());
  const int64_t index = int64_t(loop.index);
  if (name == "index") return Value::integer(index + 1);
  if (name == "index0") return Value::integer(index);
  if (name == "revindex") return Value::integer(size - index);
  if (name == "revindex0") return Value::integer(size - index - 1);
  if (name == "first") return Value::boolean(index == 0);
  if (name == "last") return Value::boolean(index + 1 == size);
  if (name == "length") return Value::integer(size);
  if (name == "depth") return Value::integer(int64_t{loop.depth} + 1);
  if (name == "depth0") return Value::integer(loop.depth);
  if (name == "previtem") {  // size_t wraps below zero, which is no item
    return one_or_undefined(runtime, loop.items, loop.index - 1, "previous");
  }
  if (name == "nextitem") return one_or_undefined(runtime, loop.items, loop.index + 1, "next");
  return std::nullopt;
}

/// The result of Python's getattr.
Found own_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (object.is_namespace()) {
    const Value* found = object.as_namespace().attributes.find(name);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  if (object.is_loop()) {
    TOK_TRY(const std::optional<Value> found, loop_attribute(runtime, object, name));
    if (found) return found;
  }
  if (object.is_callable() && name == "name") {
    TOK_TRY(const Value text, runtime.text(std::string(object.as_callable().name)));
    return text;
  }
  if (object.is_sequence() && object.as_sequence().form == Sequence::Form::kGroup) {
    if (name == "grouper") return object.as_sequence().items[0];
    if (name == "list") return object.as_sequence().items[1];
  }
  const Method* method = find_method(object, name);
  if (method == nullptr) return std::nullopt;
  TOK_TRY(const Value bound,
          runtime.callable({.name = method->name, .builtin = method->builtin, .self = object}));
  return bound;
}

Found item_at(Runtime& runtime, const Value& object, int64_t index) {
  if (object.is_text()) {
    const std::string_view all = object.as_text();
    TOK_TRY(runtime.spend_reading(all.size()));
    const int64_t size = int64_t(character_count(all));
    if (index < -size || index >= size) return std::nullopt;
    const size_t begin = character_offset(all, size_t(index < 0 ? index + size : index));
    const size_t end = next_character(all, begin);
    TOK_TRY(const Value character, runtime.text(std::string(all.substr(begin, end - begin))));
    return character;
  }
  if (!object.is_sequence() || !object.as_sequence().is_indexable()) return std::nullopt;
  const std::vector<Value>& items = object.as_sequence().items;
  const int64_t size = int64_t(items.size());
  if (index < -size || index >= size) return std::nullopt;
  return items[size_t(index < 0 ? index + size : index)];
}

Failure inside_undefined(const Value& object) {
  return invalid_input("{}", object.undefined_message());
}

/// Start, stop and step as Python clamps them for `size` items.
struct Range {
  int64_t start, stop, step;
};

Result<Range> clamp(const Value& start, const Value& stop, const Value& step, int64_t size) {
  for (const Value* part : {&start, &stop, &step}) {
    if (!part->is_none() && !part->is_integer()) {
      return invalid_input("slice indices must be integers or None, not {}", part->type_name());
    }
  }
  Range range{0, 0, step.is_none() ? 1 : step.as_integer()};
  if (range.step == 0) return invalid_input("slice step cannot be zero");
  const int64_t low = range.step > 0 ? 0 : -1;
  const int64_t high = range.step > 0 ? size : size - 1;
  const auto place = [&](const Value& part, int64_t fallback) {
    if (part.is_none()) return fallback;
    const int64_t at = part.as_integer();
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  range.start = place(start, range.step > 0 ? low : high);
  range.stop = place(stop, range.step > 0 ? high : low);
  // A step beyond all items walks one item; keeping it small keeps the sums below in range.
  range.step = std::clamp(range.step, -size - 1, size + 1);
  return range;
}

bool continues(const Range& range, int64_t at) {
  return range.step > 0 ? at < range.stop : at > range.stop;
}

}  // namespace

Result<Value> get_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (object.is_undefined()) return inside_undefined(object);
  TOK_TRY(const std::optional<Value> found, own_attribute(runtime, object, name));
  if (found) return *found;
  if (object.is_dict()) {
    const Value* item = object.as_dict().find(name);
    if (item != nullptr) return *item;
  }
  return runtime.undefined("'{} object' has no attribute '{}'", object.type_name(), name);
}

Result<Value> get_item(Runtime& runtime, const Value& object, const Value& index) {
  if (object.is_undefined()) return inside_undefined(object);
  if (object.is_dict()) {
    const Value* item = object.as_dict().find(index);
    if (item != nullptr) return *item;
  }
  if (index.is_integer()) {
    TOK_TRY(const std::optional<Value> found, item_at(runtime, object, index.as_integer()));
    if (found) return *found;
    return runtime.undefined("{} object has no element {}", object.type_name(), index.as_integer());
  }
  if (!index.is_text()) {
    return runtime.undefined("{} object has no element of type {}", object.type_name(),
                             index.type_name());
  }
  TOK_TRY(const std::optional<Value> found, own_attribute(runtime, object, index.as_text()));
  if (found) return *found;
  return runtime.undefined("'{} object' has no attribute '{}'", object.type_name(),
                           index.as_text());
}

Result<Value> get_slice(Runtime& runtime, const Value& object, const Value& start,
                        const Value& stop, const Value& step) {
  if (object.is_undefined()) return inside_undefined(object);
  if (object.is_text()) {
    const std::string_view all = object.as_text();
    TOK_TRY(runtime.spend_reading(all.size()));
    TOK_TRY(const Range range, clamp(start, stop, step, int64_t(character_count(all))));
    if (range.step == 1) {
      if (range.start >= range.stop) return runtime.text("");
      const size_t begin = character_offset(all, size_t(range.start));
      const std::string_view rest = all.substr(begin);
      return runtime.text(
          std::string(rest.substr(0, character_offset(rest, size_t(range.stop - range.start)))));
    }
    TOK_TRY(runtime.check_room(all.size() * sizeof(std::string_view)));
    std::vector<std::string_view> characters;
    for (size_t at = 0; at < all.size();) {
      const size_t end = next_character(all, at);
      characters.push_back(all.substr(at, end - at));
      at = end;
    }
    std::string text;
    for (int64_t at = range.start; continues(range, at); at += range.step) {
      text += characters[size_t(at)];
    }
    return runtime.text(std::move(text));
  }
  if (!object.is_sequence() || !object.as_sequence().is_indexable()) {
    return invalid_input("'{}' object cannot be sliced", object.type_name());
  }
  const Sequence& all = object.as_sequence();
  TOK_TRY(const Range range, clamp(start, stop, step, int64_t(all.items.size())));
  TOK_TRY(runtime.check_room(all.items.size() * sizeof(Value)));
  std::vector<Value> items;
  for (int64_t at = range.start; continues(range, at); at += range.step) {
    items.push_back(all.items[size_t(at)]);
  }
  const bool is_group = all.form == Sequence::Form::kGroup;
  return runtime.sequence(std::move(items), is_group ? Sequence::Form::kTuple : all.form);
}

Result<Value> get_path(Runtime& runtime, const Value& object, const Value& path,
                       const Value* fallback) {
  const std::string_view whole = path.is_text() ? std::string_view(path.as_text()) : "";
  Value value = object;
  for (std::string_view rest = whole;;) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    const std::string part(rest.substr(0, dot));
    int64_t number = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool is_number = read.ec == std::errc() && read.ptr == part.data() + part.size();
    Value index = is_number ? Value::integer(number) : Value::text(&part);
    if (!path.is_text()) index = path;
    TOK_TRY(runtime.spend_steps(1));
    TOK_TRY(value, get_item(runtime, value, index));
    if (value.is_undefined() && fallback != nullptr) value = *fallback;
    if (dot == rest.size()) return value;
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace tokamak::jinja
