// Causal convolution over time, each column by itself:
//   y[t, c] = activation(bias[c] + sum_j w[c, j] x[t - (k-1) + j, c])
//
//   x      f32 [T, n]      or, gated, [T, 3n]: a row is g, h, z, the input g z, the result h y
//   w      f32 [n, k]      w[:, k-1] meets the token itself
//   bias   f32 [n]         optional
//   y      f32 [T, n]
//   state  f32 [k-1, n]    the rows of x before the step, oldest first; changed in place to those
//                          before the next. Zeros at position 0, whatever it holds.
// On devices one workgroup has all tokens that the state reaches, so nothing reads what another
// writes. Sums in f32 on devices, in f64 in the reference.
// Reference: transformers, modeling_lfm2.py, Lfm2ShortConv.slow_forward.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> conv_variants();
}
