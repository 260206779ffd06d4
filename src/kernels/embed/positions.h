// Learned positions:  y[t, :] = x[t, :] + table[offset + position of t, :]
//
//   x      f32 [T, n]
//   table  f32|f16|bf16 [rows, n]   rows above offset + position: contexts are no longer
//   y      f32 [T, n]
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

// Rows of the references (kernels/rows.h).
void add_positions_row(const CpuCall& call, size_t t);
void position_scale_row(const CpuCall& call, size_t t);

std::span<const KernelVariant> position_variants();

}  // namespace tokamak
