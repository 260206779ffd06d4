// References of ops whose rows are computed one by one: the row is a function of its own, which
// processors with several threads spread (cpu/rows.h).
#pragma once
#include "kernels/kernel.h"

namespace tokamak {

/// Computes row t of an op's output.
using RowFunction = void (*)(const CpuCall&, size_t t);

/// All rows of the first output in order.
template <RowFunction kRow>
void row_by_row(const CpuCall& call) {
  for (size_t t = 0; t < call.outputs[0].dims[0]; ++t) kRow(call, t);
}

/// Row t of a tensor of f32.
inline std::span<float> row_of(const CpuTensor& tensor, size_t t) {
  return tensor.f32().subspan(t * tensor.dims[1], tensor.dims[1]);
}

}  // namespace tokamak
