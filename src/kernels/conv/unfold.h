// The rows that a convolution over time reads:  y[p, c * taps + j] = x[stride * p - pad + j, c]
//
//   x  f32 [rows, n]         of all steps; what is before or after them is 0
//   y  f32 [T, n * taps]     p is a row's position in its sequence
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// Row t of the reference (kernels/rows.h).
void unfold_row(const CpuCall& call, size_t t);

std::span<const KernelVariant> unfold_variants();

}  // namespace tokamak
