// Loops over the rows of a step.
#pragma once
#include "kernels/cpu/thread_pool.h"
#include "kernels/rows.h"

namespace tokamak {

/// Calls body(i) for i in [0, count), on all threads where there is enough to do: about `each`
/// operations an element.
template <typename Body>
void over_parts(const CpuCall& call, size_t count, size_t each, const Body& body) {
  constexpr size_t kWorthIt = 1 << 15;  // a few microseconds: what it costs to wake the others
  const auto some = [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) body(i);
  };
  if (count * each < kWorthIt) return some(0, count);
  call.pool->run(count, some);
}

/// All rows of the first output on all threads, with about `kEach` operations an element.
template <RowFunction kRow, size_t kEach = 2>
void in_rows(const CpuCall& call) {
  const CpuTensor& y = call.outputs[0];
  over_parts(call, y.dims[0], kEach * y.dims[1], [&](size_t t) { kRow(call, t); });
}

}  // namespace tokamak
