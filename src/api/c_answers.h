// The common part of the functions of the C interface: no exception leaves them, and a failure
// becomes a handle of an error.
#pragma once
#include <cstddef>
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

/// Memory of malloc() with a copy of those bytes; the caller frees it.
Result<void*> copy_of(const void* bytes, size_t count);
/// The same of a text and its zero.
Result<char*> text_for_caller(const std::string& text);

}  // namespace tokamak
