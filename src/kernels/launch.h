// What the launch functions of the families share.
#pragma once
#include <algorithm>
#include <bit>
#include <string>

#include "base/bits.h"
#include "base/check.h"
#include "kernels/kernel.h"

namespace tokamak {

/// Lanes of kernels that compute one element each.
inline constexpr uint32_t kMapThreads = 128;

/// The power of two in [low, high] nearest below `wanted`.
constexpr uint32_t power_of_two(uint32_t wanted, uint32_t low, uint32_t high) {
  return std::clamp(std::bit_floor(std::max(wanted, 1u)), low, high);
}

}  // namespace tokamak
