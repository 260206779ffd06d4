// How the bytes of something large travel: in pieces, and in shares that several threads make at
// once.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"

namespace tokamak {

/// One of `count` shares; together they are the whole. A share may be empty.
struct Share {
  uint32_t index = 0, count = 1;
};

/// Takes the bytes from `offset` of the whole on: a multiple of 4, and so is their number, but
/// where they are the last ones.
using WriteBytes = std::function<Result<void>(uint64_t offset, std::span<const std::byte> bytes)>;

/// Writes bytes that nobody divides: the first share is all of them.
inline Result<void> write_whole(std::span<const std::byte> bytes, Share share,
                                const WriteBytes& write) {
  return share.index == 0 ? write(0, bytes) : Result<void>();
}

}  // namespace tokamak
