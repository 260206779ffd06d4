// The memory of one rendering and its limits: what it owns and may spend.
//
// Templates come from strangers. Every loop over something whose size a template chooses spends
// steps, every value made spends bytes (before it is made), and nesting is counted; whatever runs
// out is an error that says so.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/template/value.h"

namespace tokamak::jinja {

struct Limits {
  uint64_t max_steps = 20'000'000;  // nodes evaluated, items walked, 16-byte pieces of text read
  uint32_t max_depth = 400;         // nested expressions, blocks and macro calls
  uint64_t max_memory_bytes = uint64_t{256} << 20;  // of all values ever made
  uint64_t max_output_bytes = uint64_t{32} << 20;
};

/// Levels of lists and dicts inside each other.
inline constexpr uint32_t kMaxValueDepth = 300;

/// The limit of the reference's sandbox.
inline constexpr int64_t kMaxRange = 100'000;

struct Scope;
struct For;
struct Macro;

/// The arguments of one call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string_view, Value>> named;
};

class Runtime;
using Builtin = Result<Value> (*)(Runtime& runtime, const Value& self, const Arguments& arguments);

/// A function, a bound method (`self` set), a macro (`macro` and `scope` set) or `loop` itself.
struct Callable {
  std::string_view name;
  Builtin builtin = nullptr;
  Value self;
  const Macro* macro = nullptr;
  Scope* scope = nullptr;
};

/// The state that the name `loop` stands for.
struct Loop {
  std::span<const Value> items;
  size_t index = 0;
  uint32_t depth = 0;
  const For* statement = nullptr;
  Scope* scope = nullptr;  // around the loop
  std::optional<Arguments> changed;
};

/// Names visible at one place of the template, and the place around it.
struct Scope {
  Scope* parent = nullptr;
  std::vector<std::pair<std::string_view, Value>> names;
};

class Runtime {
 public:
  explicit Runtime(const Limits& limits) : limits_(limits) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Limits& limits() const { return limits_; }

  Result<void> spend_steps(uint64_t count);
  /// Steps for reading `bytes` bytes.
  Result<void> spend_reading(uint64_t bytes) { return spend_steps(1 + bytes / 16); }
  /// Steps for looking for `needle` bytes everywhere in `bytes` bytes.
  Result<void> spend_searching(uint64_t bytes, uint64_t needle) {
    return spend_steps(1 + bytes / 16 * (1 + needle / 64));
  }
  Result<void> spend_bytes(uint64_t bytes);
  /// An error when `bytes` more would not fit; spends nothing.
  Result<void> check_room(uint64_t bytes) const;

  Result<Value> text(std::string value);
  /// `digits`: of an integer that needs more than 64 bits, as JSON spells it.
  Result<Value> big_integer(std::string digits);
  Result<Value> sequence(std::vector<Value> items, Sequence::Form form = Sequence::Form::kList);
  Result<Value> dict(Dict value);
  Result<Value> space(Dict attributes);
  Result<Value> loop(Loop value);
  Result<Value> callable(Callable value);
  Result<Scope*> scope(Scope* parent);
  Result<Value> from_json(const Json& json);

  /// Undefined because of `message`.
  template <typename... Parts>
  Result<Value> undefined(fmt::format_string<Parts...> format, Parts&&... parts) {
    return missing(fmt::format(format, std::forward<Parts>(parts)...));
  }

  /// The items that `for` walks: of a sequence, the keys of a dict, the characters of a text,
  /// nothing for undefined. Spends a step per item; a generator is empty afterwards.
  Result<std::span<const Value>> iterate(const Value& value);

  /// Seconds since 1970 that strftime_now shows; the clock when absent.
  std::optional<int64_t> now;

 private:
  Result<Value> missing(std::string message);

  Limits limits_;
  uint64_t steps_ = 0;
  uint64_t bytes_ = 0;
  // Deques keep the addresses of what they hold.
  std::deque<std::string> texts_;
  std::deque<Sequence> sequences_;
  std::deque<Dict> dicts_;
  std::deque<Namespace> spaces_;
  std::deque<Loop> loops_;
  std::deque<Callable> callables_;
  std::deque<Scope> scopes_;
};

}  // namespace tokamak::jinja
