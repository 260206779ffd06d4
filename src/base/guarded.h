// guarded(): the exceptions of the standard library as errors, for calls that nothing above could
// catch: those of C and the first ones of a thread.
#pragma once
#include "base/result.h"

namespace tokamak {

/// The error for the exception that is being handled: memory that is used up, a thread or a lock
/// that the system refuses. Any other is a broken invariant and ends the program.
Error error_of_exception() noexcept;

/// The value of `call`, a Result, or an error where it throws.
template <typename Call>
auto guarded(const Call& call) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    return Failure(error_of_exception());
  }
}

}  // namespace tokamak
