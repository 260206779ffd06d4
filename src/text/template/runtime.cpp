#include "text/template/runtime.h"

#include <algorithm>

#include "text/template/unicode.h"

namespace tokamak::jinja {
namespace {

// The size of a map node and a vector element of a dict, roughly.
constexpr uint64_t kDictItemBytes = 104;

uint32_t depth_of(const Value& value) {
  if (value.is_sequence()) return value.as_sequence().depth;
  if (value.is_dict()) return value.as_dict().depth;
  return 0;
}

Result<uint32_t> depth_around(uint32_t inner) {
  if (inner >= kMaxValueDepth) {
    return invalid_input("Lists and dicts nest deeper than {} levels.", kMaxValueDepth);
  }
  return inner + 1;
}

}  // namespace

Result<void> Runtime::spend_steps(uint64_t count) {
  if (count > limits_.max_steps - steps_) {
    steps_ = limits_.max_steps;
    return invalid_input("The template takes more than {} steps.", limits_.max_steps);
  }
  steps_ += count;
  return {};
}

Result<void> Runtime::check_room(uint64_t bytes) const {
  if (bytes > limits_.max_memory_bytes - bytes_) {
    return invalid_input("The values of the template take more than {} bytes.",
                         limits_.max_memory_bytes);
  }
  return {};
}

Result<void> Runtime::spend_bytes(uint64_t bytes) {
  TOK_TRY(check_room(bytes));
  bytes_ += bytes;
  return {};
}

Result<Value> Runtime::text(std::string value) {
  TOK_TRY(spend_bytes(sizeof(std::string) + value.size()));
  return Value::text(&texts_.emplace_back(std::move(value)));
}

Result<Value> Runtime::big_integer(std::string digits) {
  TOK_TRY(spend_bytes(sizeof(std::string) + digits.size()));
  return Value::big_integer(&texts_.emplace_back(std::move(digits)));
}

Result<Value> Runtime::missing(std::string message) {
  TOK_TRY(spend_bytes(sizeof(std::string) + message.size()));
  return Value::undefined(&texts_.emplace_back(std::move(message)));
}

Result<Value> Runtime::sequence(std::vector<Value> items, Sequence::Form form) {
  TOK_TRY(spend_steps(items.size()));
  TOK_TRY(spend_bytes(sizeof(Sequence) + items.size() * sizeof(Value)));
  uint32_t inner = 0;
  for (const Value& item : items) inner = std::max(inner, depth_of(item));
  TOK_TRY(const uint32_t depth, depth_around(inner));
  return Value::sequence(
      &sequences_.emplace_back(Sequence{.items = std::move(items), .form = form, .depth = depth}));
}

Result<Value> Runtime::dict(Dict value) {
  TOK_TRY(spend_steps(value.items.size()));
  TOK_TRY(spend_bytes(sizeof(Dict) + value.items.size() * kDictItemBytes));
  uint32_t inner = 0;
  for (const auto& item : value.items) inner = std::max(inner, depth_of(item.second));
  TOK_TRY(value.depth, depth_around(inner));
  return Value::dict(&dicts_.emplace_back(std::move(value)));
}

Result<Value> Runtime::space(Dict attributes) {
  TOK_TRY(spend_bytes(sizeof(Namespace) + attributes.items.size() * kDictItemBytes));
  return Value::space(&spaces_.emplace_back(Namespace{std::move(attributes)}));
}

Result<Value> Runtime::loop(Loop value) {
  TOK_TRY(spend_bytes(sizeof(Loop)));
  return Value::loop(&loops_.emplace_back(std::move(value)));
}

Result<Value> Runtime::callable(Callable value) {
  TOK_TRY(spend_bytes(sizeof(Callable)));
  return Value::callable(&callables_.emplace_back(value));
}

Result<Scope*> Runtime::scope(Scope* parent) {
  TOK_TRY(spend_bytes(sizeof(Scope)));
  return &scopes_.emplace_back(Scope{.parent = parent});
}

Result<Value> Runtime::from_json(const Json& json) {
  switch (json.kind()) {
    case Json::Kind::kNull:
      return Value::none();
    case Json::Kind::kBool:
      return Value::boolean(json.as_bool());
    case Json::Kind::kInteger:
      return Value::integer(json.as_integer());
    case Json::Kind::kBigInteger:
      return big_integer(json.as_big_integer().digits);
    case Json::Kind::kNumber:
      return Value::number(json.as_number());
    case Json::Kind::kString:
      if (!is_valid_utf8(json.as_string())) return invalid_input("A text is not valid UTF-8.");
      return text(json.as_string());
    case Json::Kind::kArray: {
      std::vector<Value> items;
      for (const Json& item : json.as_array()) {
        TOK_TRY(const Value value, from_json(item));
        items.push_back(value);
      }
      return sequence(std::move(items));
    }
    case Json::Kind::kObject: {
      Dict items;
      for (const auto& [name, item] : json.as_object()) {
        if (!is_valid_utf8(name)) return invalid_input("A text is not valid UTF-8.");
        TOK_TRY(const Value key, text(name));
        TOK_TRY(const Value value, from_json(item));
        items.set(key, value);
      }
      return dict(std::move(items));
    }
  }
  return Value::none();
}

Result<std::span<const Value>> Runtime::iterate(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return std::span<const Value>();
    case Kind::kSequence: {
      const Sequence& sequence = value.as_sequence();
      TOK_TRY(spend_steps(sequence.items.size()));
      if (sequence.form == Sequence::Form::kGenerator) {
        if (sequence.consumed) return std::span<const Value>();
        sequence.consumed = true;
      }
      return std::span<const Value>(sequence.items);
    }
    case Kind::kDict: {
      std::vector<Value> keys;
      for (const auto& item : value.as_dict().items) keys.push_back(item.first);
      TOK_TRY(const Value held, sequence(std::move(keys)));
      return std::span<const Value>(held.as_sequence().items);
    }
    case Kind::kText: {
      const std::string_view all = value.as_text();
      TOK_TRY(check_room(all.size() * (sizeof(Value) + sizeof(std::string))));
      std::vector<Value> characters;
      for (size_t at = 0; at < all.size();) {
        const size_t end = next_character(all, at);
        TOK_TRY(const Value character, text(std::string(all.substr(at, end - at))));
        characters.push_back(character);
        at = end;
      }
      TOK_TRY(const Value held, sequence(std::move(characters)));
      return std::span<const Value>(held.as_sequence().items);
    }
    default:
      return invalid_input("'{}' object is not iterable.", value.type_name());
  }
}

}  // namespace tokamak::jinja
