// A convolution over time that looks back only:
//   y[t, o] = bias[o] + sum_c sum_j w[o, c * k + j] x'[t - (k - 1 - j) * dilation, c] (+ r[t, o])
// x' is x or half_snake(x, a) of half_snake.h; before a slot's first row it is 0.
//
//   x     f32 [T, n]
//   w     f32 [out, n*k]     in the order of checkpoints, [out, n, k]
//   bias  f32 [out]
//   a     f32 [n/2]          with snake
//   r     f32 [T, out]       with adds
//   y     f32 [T, out]
// A workgroup has 64 rows of one sequence by 32 columns of y, and goes through the columns of x a
// few at a time: these rows with those before them, activated once, and the weights of all taps
// meet in workgroup memory. Sums in f32 on devices, in f64 in the reference.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> causal_conv_variants();
}
