// splitmix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"): the
// same numbers on every platform, and few enough operations for a kernel
// (kernels/sampling/sample_token.wgsl).
#pragma once
#include <bit>
#include <cstdint>

namespace tokamak {

constexpr uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A seed that is another one for every call and at every time; what JSON and --seed hold.
inline uint64_t fresh_seed(double seconds, uint64_t call) {
  uint64_t state = std::bit_cast<uint64_t>(seconds) + call;
  return next_random(state) >> 1;
}

}  // namespace tokamak
