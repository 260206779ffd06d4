// How calls end that go on over many steps, when they are cancelled or their device does not stay.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace tokamak {

/// A device that is lost so often in a row will not carry out what it is asked.
inline constexpr uint32_t kMaxLosses = 3;

/// The last of `losses` losses, after which `what` is given up: "this call is".
inline Failure given_up(const Error& loss, uint32_t losses, std::string_view what) {
  return Failure(loss.within(
      fmt::format("The device was lost {} times in a row, and {} given up", losses, what)));
}

inline Failure call_was_cancelled() {
  return fail(ErrorCode::kCancelled, "The call was cancelled.");
}

}  // namespace tokamak
