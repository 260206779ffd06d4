// The common part of the functions of the C interface: no exception leaves them, and a failure
// becomes a handle of an error.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "api/settings.h"
#include "base/guarded.h"
#include "tokamak/c.h"

struct tokamak_error {
  tokamak::Error error;
};

struct tokamak_model {
  tokamak::Model model;
  std::string details;
};

namespace tokamak {

/// Gives the error to a caller who wants it.
void give(tokamak_error** error, Error found) noexcept;

/// The value of `call`, a Result<T>, or T{} and an error.
template <typename Call>
auto value_or_error(tokamak_error** error, const Call& call) noexcept ->
    typename decltype(call())::value_type {
  auto made = guarded(call);
  if (made) return *std::move(made);
  give(error, std::move(made).error());
  return {};
}

/// Whether `call`, a Result<void>, succeeds.
template <typename Call>
bool is_done(tokamak_error** error, const Call& call) noexcept {
  Result<void> done = guarded(call);
  if (!done) give(error, std::move(done).error());
  return done.has_value();
}

/// A new T, or null where memory is used up.
template <typename T>
T* made() noexcept {
  return guarded([]() -> Result<T*> { return new T; }).value_or(nullptr);
}

inline std::string_view text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

/// A callback with the caller's pointer; none of null.
inline std::function<bool()> call_of(tokamak_cancelled cancelled, void* user) {
  if (cancelled == nullptr) return {};
  return [=] { return cancelled(user); };
}

template <typename Options>
bool set_option(Options& options, const char* name, const char* value, tokamak_error** error) {
  return is_done(error,
                 [&] { return set_by_name(options, text_or_empty(name), text_or_empty(value)); });
}

/// Copies what the caller knows of a struct whose first member is its size.
template <typename T>
void fill(T* known, const T& whole) {
  const size_t size = std::min(known->size, sizeof(T));
  if (size < sizeof whole.size) return;
  std::memcpy(known, &whole, size);
  known->size = size;
}

/// The next of a stream or a call, waiting for at most that many seconds; negative: without end.
auto next_within(auto& stream, double timeout) {
  constexpr double kMaxSeconds = 1e9;  // which nanoseconds can hold
  if (timeout < 0) return stream.next();
  return stream.next(std::chrono::nanoseconds(int64_t(std::min(timeout, kMaxSeconds) * 1e9)));
}

/// The same of its on_ready().
void set_ready(auto& stream, tokamak_ready ready, void* user) {
  is_done(nullptr, [&]() -> Result<void> {
    if (ready == nullptr) {
      stream.on_ready(nullptr);
    } else {
      stream.on_ready([=] { ready(user); });
    }
    return {};
  });
}

/// Memory of malloc() with a copy of those bytes; the caller frees it.
Result<void*> copy_of(const void* bytes, size_t count);
/// The same of a text and its zero.
Result<char*> text_for_caller(const std::string& text);

}  // namespace tokamak
