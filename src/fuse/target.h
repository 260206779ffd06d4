// The device as passes see it: what a launch may bind and costs.
#pragma once
#include <algorithm>
#include <cstdint>

#include "graph/half.h"

namespace tokamak::fuse {

/// The defaults are what every WebGPU device grants, and a large GPU.
struct Target {
  uint32_t max_bindings = 8;  // buffers that a launch binds; packed weights may be bound twice
  uint64_t max_binding_bytes = uint64_t{128} << 20;
  double launch_cost_us = 2.16;    // of one that returns at once
  uint32_t multiprocessors = 132;  // what runs workgroups at the same time
  bool joins_products = true;      // a launch costs more than sums in fixed point
  bool is_parallel = true;         // false: workgroups take turns on the cores of a processor
  bool has_library = false;        // of products of bf16 and f16
  Half library_type = Half::kBf16;
  /// Products by fewer weights take less time than calling the library and rounding for it does.
  uint64_t min_library_weights = uint64_t{1} << 20;
  bool operator==(const Target&) const = default;
};

/// The same for steps that mostly have that many rows: a call of the library costs as much for few.
inline Target for_rows(Target target, uint64_t rows) {
  constexpr uint64_t kWorthwhile = uint64_t{1} << 29, kMinWeights = uint64_t{1} << 17;
  target.min_library_weights =
      std::clamp(kWorthwhile / rows, kMinWeights, target.min_library_weights);
  return target;
}

/// The same for what sees, hears or encodes: its products read numbers that f16 holds.
inline Target in_f16(Target target) {
  target.library_type = Half::kF16;
  return target;
}

}  // namespace tokamak::fuse
