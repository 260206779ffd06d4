// Activation buffers, coloured by liveness: whole buffers, so that no step reads and writes one.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tokamak {

/// A tensor and when it needs its place: from one moment to another, both included. Of two phases
/// the moments are different ones, so that they share buffers.
struct Lifetime {
  uint32_t first = 0, last = 0;
  uint64_t bytes = 0;
};

struct Placement {
  std::vector<uint32_t> buffer;  // of each tensor
  std::vector<uint64_t> bytes;   // of each buffer, the largest first
};

/// Buffers in which no two tensors meet, of the smallest sum there is; where finding that takes too
/// long, and for tensors that are small beside the largest, of a small one. Depends on nothing but
/// the lifetimes and their order. REQUIRES: no tensor is empty.
Placement place_tensors(std::span<const Lifetime> tensors);

}  // namespace tokamak
