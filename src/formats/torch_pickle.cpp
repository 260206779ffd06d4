#include "formats/torch_pickle.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "formats/printable.h"

namespace tokamak {
namespace {

enum class Name : uint8_t { kOrderedDict, kRebuildTensor };
struct None {};
struct Mark {};
struct Type {
  DType dtype;
};
struct Storage {
  Type type;
  std::string key;
  uint64_t size;
};

struct Value;
/// Shared: a pickle refers to what it has made before by number.
using Ref = std::shared_ptr<Value>;
struct Tuple {
  std::vector<Ref> items;
};
/// Null stands for what is no tensor: so no dictionary is ever within itself.
struct Dict {
  std::vector<std::pair<std::string, Ref>> items;
};

struct Value {
  std::variant<None, Mark, bool, int64_t, std::string, Name, Type, Storage, PickledTensor, Tuple,
               Dict>
      is;
  uint32_t depth = 0;  // of values within values
};

/// Deeper than any tensor's description; what is deeper would end in a deep recursion.
constexpr uint32_t kMaxDepth = 16;
constexpr size_t kMaxStack = 1'000'000, kMaxDimensions = 8;

constexpr struct {
  std::string_view text;
  std::variant<Name, Type> is;
} kNames[] = {{"collections OrderedDict", Name::kOrderedDict},
              {"torch._utils _rebuild_tensor_v2", Name::kRebuildTensor},
              {"torch FloatStorage", Type{DType::kF32}},
              {"torch HalfStorage", Type{DType::kF16}},
              {"torch BFloat16Storage", Type{DType::kBF16}},
              {"torch IntStorage", Type{DType::kI32}},
              {"torch LongStorage", Type{DType::kI64}}};

/// Runs the pickle's opcodes (Python's Lib/pickletools.py), those of protocol 2 that torch uses.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<std::vector<PickledTensor>> run() {
    for (;;) {
      start_ = at_;
      TOK_TRY(const uint8_t code, number<uint8_t>());
      if (code == '.') break;
      TOK_TRY(step(code));
      if (stack_.size() > kMaxStack) return wrong("the stack has too many values");
    }
    const Dict* dict = stack_.size() == 1 ? std::get_if<Dict>(&stack_[0]->is) : nullptr;
    if (dict == nullptr) return wrong("the result is not a dictionary");
    std::vector<PickledTensor> tensors;
    for (const auto& [name, value] : dict->items) {
      if (value == nullptr) {
        return invalid_input("\"{}\" of the pickle is no tensor.", printable(name));
      }
      tensors.push_back(std::get<PickledTensor>(value->is));
      tensors.back().name = name;
    }
    return tensors;
  }

 private:
  Failure wrong(std::string_view what) const {
    return invalid_input("The pickle is not one of a module's state: at byte {}, {}.", start_,
                         what);
  }

  Result<std::span<const std::byte>> take(size_t count) {
    if (count > bytes_.size() - at_) return wrong("it ends within something");
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  template <typename T>
  Result<T> number() {
    TOK_TRY(const auto bytes, take(sizeof(T)));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  Result<std::string> text(size_t size) {
    TOK_TRY(const auto bytes, take(size));
    return std::string(reinterpret_cast<const char*>(bytes.data()), size);
  }
  Result<std::string> line() {
    const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const std::string_view rest(begin, bytes_.size() - at_);
    const size_t end = rest.find('\n');
    if (end == rest.npos) return wrong("a name does not end");
    at_ += end + 1;
    return std::string(rest.substr(0, end));
  }

  template <typename T>
  Result<void> push(T value, uint32_t depth = 0) {
    if (depth > kMaxDepth) return wrong("values are too deep within values");
    stack_.push_back(std::make_shared<Value>(Value{std::move(value), depth}));
    return {};
  }
  Result<Ref> pop() {
    if (stack_.empty()) return wrong("the stack is empty");
    Ref top = std::move(stack_.back());
    stack_.pop_back();
    return top;
  }
  /// Takes the values above the last mark, without that.
  Result<std::vector<Ref>> pop_to_mark() {
    size_t first = stack_.size();
    while (first > 0 && !std::holds_alternative<Mark>(stack_[first - 1]->is)) --first;
    if (first == 0) return wrong("there is no mark");
    std::vector<Ref> items(stack_.begin() + ptrdiff_t(first), stack_.end());
    stack_.resize(first - 1);
    return items;
  }
  Result<void> tuple(std::vector<Ref> items) {
    uint32_t depth = 0;
    for (const Ref& item : items) depth = std::max(depth, item->depth + 1);
    return push(Tuple{std::move(items)}, depth);
  }
  Result<void> tuple_of(size_t count) {
    std::vector<Ref> items(count);
    for (size_t i = count; i-- > 0;) {
      TOK_TRY(items[i], pop());
    }
    return tuple(std::move(items));
  }

  Result<void> step(uint8_t code) {
    switch (code) {
      case 0x80: {  // PROTO
        TOK_TRY(const uint8_t protocol, number<uint8_t>());
        if (protocol != 2) return wrong("it is not of protocol 2");
        return {};
      }
      case 'c':  // GLOBAL
        return global();
      case '(':
        return push(Mark{});
      case ')':
        return tuple({});
      case '}':
        return push(Dict{});
      case 'N':
        return push(None{});
      case 0x88:
        return push(true);
      case 0x89:
        return push(false);
      case 'K': {  // BININT1
        TOK_TRY(const auto value, number<uint8_t>());
        return push(int64_t{value});
      }
      case 'M': {  // BININT2
        TOK_TRY(const auto value, number<uint16_t>());
        return push(int64_t{value});
      }
      case 'J': {  // BININT
        TOK_TRY(const auto value, number<int32_t>());
        return push(int64_t{value});
      }
      case 0x8a: {  // LONG1
        TOK_TRY(const uint8_t size, number<uint8_t>());
        TOK_TRY(const auto bytes, take(size));
        if (size > 7) return wrong("a number is too large");
        int64_t value = 0;
        for (size_t i = 0; i < size; ++i) value |= int64_t(bytes[i]) << (8 * i);
        return push(value);
      }
      case 'X': {  // BINUNICODE
        TOK_TRY(const auto size, number<uint32_t>());
        TOK_TRY(std::string value, text(size));
        return push(std::move(value));
      }
      case 't': {
        TOK_TRY(std::vector<Ref> items, pop_to_mark());
        return tuple(std::move(items));
      }
      case 0x85:
      case 0x86:
      case 0x87:
        return tuple_of(code - 0x84u);
      case 'q': {  // BINPUT
        TOK_TRY(const auto index, number<uint8_t>());
        return remember(index);
      }
      case 'r': {  // LONG_BINPUT
        TOK_TRY(const auto index, number<uint32_t>());
        return remember(index);
      }
      case 'h': {  // BINGET
        TOK_TRY(const auto index, number<uint8_t>());
        return recall(index);
      }
      case 'j': {  // LONG_BINGET
        TOK_TRY(const auto index, number<uint32_t>());
        return recall(index);
      }
      case 'Q':
        return storage();
      case 'R':
        return reduce();
      case 's': {  // SETITEM
        TOK_TRY(Ref value, pop());
        TOK_TRY(Ref key, pop());
        return set_items({std::move(key), std::move(value)});
      }
      case 'u': {  // SETITEMS
        TOK_TRY(std::vector<Ref> items, pop_to_mark());
        return set_items(std::move(items));
      }
      case 'b': {  // BUILD: what else a dictionary carries
        TOK_TRY(pop());
        if (stack_.empty() || !std::holds_alternative<Dict>(stack_.back()->is)) {
          return wrong("there is no dictionary to build");
        }
        return {};
      }
      default:
        return wrong(fmt::format("the opcode {:#04x} is not known", code));
    }
  }

  Result<void> global() {
    TOK_TRY(const std::string module, line());
    TOK_TRY(const std::string name, line());
    const std::string full = module + " " + name;
    for (const auto& known : kNames) {
      if (known.text != full) continue;
      return std::visit([&](auto is) { return push(is); }, known.is);
    }
    return unsupported(
        "The pickle names {}.{}, which this engine does not run: it reads tensors of floats and "
        "integers only.",
        printable(module), printable(name));
  }

  Result<void> remember(uint32_t index) {
    if (stack_.empty()) return wrong("the stack is empty");
    memo_[index] = stack_.back();
    return {};
  }
  Result<void> recall(uint32_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) return wrong(fmt::format("there is no value {}", index));
    stack_.push_back(found->second);
    return {};
  }

  Result<void> set_items(std::vector<Ref> items) {
    auto* dict = stack_.empty() ? nullptr : std::get_if<Dict>(&stack_.back()->is);
    if (dict == nullptr || items.size() % 2 != 0) return wrong("there is no dictionary to fill");
    for (size_t i = 0; i < items.size(); i += 2) {
      const auto* key = std::get_if<std::string>(&items[i]->is);
      if (key == nullptr) return wrong("a key is not a text");
      const bool is_tensor = std::holds_alternative<PickledTensor>(items[i + 1]->is);
      dict->items.emplace_back(*key, is_tensor ? items[i + 1] : nullptr);
    }
    return {};
  }

  /// ('storage', type, key, device, elements)
  Result<void> storage() {
    TOK_TRY(const Ref top, pop());
    const auto* id = std::get_if<Tuple>(&top->is);
    if (id == nullptr || id->items.size() != 5) return wrong("a storage is not five values");
    const auto* type = std::get_if<Type>(&id->items[1]->is);
    const auto* key = std::get_if<std::string>(&id->items[2]->is);
    const auto* size = std::get_if<int64_t>(&id->items[4]->is);
    if (type == nullptr || key == nullptr || size == nullptr || *size < 0) {
      return wrong("a storage has no type, key and size");
    }
    return push(Storage{*type, *key, uint64_t(*size)});
  }

  Result<void> reduce() {
    TOK_TRY(const Ref arguments, pop());
    TOK_TRY(const Ref function, pop());
    const auto* items = std::get_if<Tuple>(&arguments->is);
    const auto* name = std::get_if<Name>(&function->is);
    if (items == nullptr || name == nullptr) return wrong("there is nothing to call");
    if (*name == Name::kRebuildTensor) return tensor(items->items);
    if (!items->items.empty()) return wrong("a dictionary is made of something");
    return push(Dict{});
  }

  static std::optional<std::vector<uint64_t>> sizes(const Value& value) {
    const auto* tuple = std::get_if<Tuple>(&value.is);
    if (tuple == nullptr || tuple->items.size() > kMaxDimensions) return std::nullopt;
    std::vector<uint64_t> all;
    for (const Ref& item : tuple->items) {
      const auto* size = std::get_if<int64_t>(&item->is);
      if (size == nullptr || *size < 0) return std::nullopt;
      all.push_back(uint64_t(*size));
    }
    return all;
  }

  /// (storage, first element, shape, strides, ...)
  Result<void> tensor(const std::vector<Ref>& arguments) {
    if (arguments.size() < 4) return wrong("a tensor is less than four values");
    const auto* storage = std::get_if<Storage>(&arguments[0]->is);
    const auto* first = std::get_if<int64_t>(&arguments[1]->is);
    const auto shape = sizes(*arguments[2]), strides = sizes(*arguments[3]);
    if (storage == nullptr || first == nullptr || *first < 0 || !shape || !strides ||
        shape->size() != strides->size()) {
      return wrong("a tensor has no storage, first element, shape and strides");
    }
    PickledTensor made{.name = {},
                       .dtype = storage->type.dtype,
                       .shape = *shape,
                       .storage = storage->key,
                       .storage_size = storage->size,
                       .first = uint64_t(*first)};
    for (size_t i = shape->size(); i-- > 0;) {
      if ((*shape)[i] != 1 && (*strides)[i] != made.elements) {
        return wrong("a tensor's elements do not follow one another");
      }
      if (__builtin_mul_overflow(made.elements, (*shape)[i], &made.elements)) {
        return wrong("a tensor is too large");
      }
    }
    if (made.first > storage->size || made.elements > storage->size - made.first) {
      return wrong("a tensor goes beyond its storage");
    }
    return push(std::move(made));
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0, start_ = 0;
  std::vector<Ref> stack_;
  std::map<uint32_t, Ref> memo_;
};

}  // namespace

Result<std::vector<PickledTensor>> read_torch_pickle(std::span<const std::byte> pickle) {
  if (pickle.size() > kMaxPickleBytes) {
    return invalid_input("The pickle has {} bytes; at most {} are allowed.", pickle.size(),
                         kMaxPickleBytes);
  }
  return Reader(pickle).run();
}

}  // namespace tokamak
