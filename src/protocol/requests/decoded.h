// The memory of what the files of requests are decoded to: images, recordings.
#pragma once
#include "base/byte_budget.h"
#include "protocol/requests/api_error.h"

namespace tokamak::protocol {

/// Most bytes of all requests together, while they wait and are worked on.
inline constexpr uint64_t kDecodedBytes = uint64_t{1} << 30;

/// Errors: 503 where there is no room.
inline Answer<ByteBudget::Lease> lease_of(ByteBudget& decoded, uint64_t bytes) {
  auto lease = decoded.take(bytes);
  if (lease) return *std::move(lease);
  return Refusal(
      ApiError{.status = 503,
               .message = "The images and recordings of other requests take all the memory that "
                          "they may; retry later.",
               .param = {},
               .code = "overloaded"});
}

}  // namespace tokamak::protocol
