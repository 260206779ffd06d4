// Values of JavaScript as values of C++, and back. Everything here belongs to the JavaScript
// thread, but for Failure.
#pragma once
#include <node_api.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokamak/c.h"

namespace tokamak::node {

class Addon;

/// The reason why something did not work, a sentence for a person.
struct Failure {
  tokamak_error_code code = TOKAMAK_USAGE;
  std::string message = {};
};

template <typename T>
using Result = std::expected<T, Failure>;

/// The last parameter of a function of the C interface.
class ErrorSlot {
 public:
  ErrorSlot() = default;
  ErrorSlot(const ErrorSlot&) = delete;
  ErrorSlot& operator=(const ErrorSlot&) = delete;
  ~ErrorSlot() { tokamak_error_free(error_); }

  operator tokamak_error**() { return &error_; }
  /// The error of a function that has failed.
  std::unexpected<Failure> failure() const;

 private:
  tokamak_error* error_ = nullptr;
};

/// Something of C++ that JavaScript holds and the collector frees.
class Handle {
 public:
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  virtual ~Handle() = default;
  virtual void cancel() {}
};

/// A value of JavaScript that C++ keeps. It may be copied, and dropped by any thread.
class Kept {
 public:
  Kept() = default;
  Kept(std::shared_ptr<Addon> addon, napi_env env, napi_value value);

  explicit operator bool() const { return reference_ != nullptr; }
  napi_value value(napi_env env) const;
  /// Calls a function; what it throws is reported as not caught.
  void call(napi_env env, std::span<const napi_value> arguments) const;

 private:
  std::shared_ptr<napi_ref> reference_;
};

napi_value text_value(napi_env env, std::string_view text);
napi_value number_value(napi_env env, double number);
napi_value undefined_value(napi_env env);
/// A Float32Array, a Uint32Array and a Uint8Array with copies of what is given.
napi_value floats_value(napi_env env, std::span<const float> numbers);
napi_value ids_value(napi_env env, std::span<const uint32_t> ids);
napi_value bytes_value(napi_env env, std::span<const std::byte> bytes);
napi_value array_value(napi_env env, std::span<const napi_value> members);
/// An external value that shares the handle until it is collected.
napi_value handle_value(napi_env env, std::shared_ptr<Handle> handle);
/// A TokamakError of the package.
napi_value error_value(napi_env env, const Failure& failure);

void set_member(napi_env env, napi_value object, const char* name, napi_value value);

/// The arguments of a call. The first that is not what was expected is kept as a failure, and
/// reading goes on.
class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info);

  std::string text(size_t index, const char* name);
  std::vector<std::string> texts(size_t index, const char* name);
  /// Names and values of options in turns.
  std::vector<std::string> options(size_t index);
  bool boolean(size_t index);
  /// A function, or nothing where it is undefined.
  Kept function(size_t index);
  /// A value that stays as long as what is returned.
  Kept kept(size_t index);
  /// The memory of an array of that type, which is there as long as the array; empty where it is
  /// undefined.
  std::span<const float> floats(size_t index, const char* name);
  std::span<const uint32_t> ids(size_t index, const char* name);
  std::span<const std::byte> bytes(size_t index, const char* name);
  bool is_floats(size_t index) const;

  template <typename T>
  std::shared_ptr<T> handle(size_t index, const char* name) {
    auto found = std::dynamic_pointer_cast<T>(any_handle(index));
    if (found == nullptr) refuse({TOKAMAK_USAGE, std::string(name) + " is no such object."});
    return found;
  }
  std::shared_ptr<Handle> any_handle(size_t index) const;
  size_t length(size_t index) const;
  napi_value member(size_t index, uint32_t member) const;
  std::string text_of(napi_value value, const char* name);

  void refuse(Failure failure);
  bool has_failed() const { return !failure_.message.empty(); }
  /// Throws the failure.
  napi_value raise() const;

 private:
  std::span<const std::byte> memory(size_t index, const char* name, napi_typedarray_type type);

  static constexpr size_t kMaxArguments = 8;
  napi_env env_;
  napi_value values_[kMaxArguments] = {};  // what was not given is undefined
  Failure failure_;
};

napi_value throw_failure(napi_env env, const Failure& failure);

}  // namespace tokamak::node
