// Matrix products with a weight:  y = x Wᵀ (+ bias), and its forms with another ending.
//
//   x     f32 [T, in]
//   w     any matrix type [out, in]   decoded by the codec of its type (quant/codec.h)
//   bias  f32 [out], optional
//   linear      y [T, out]
//   qkv         two to four outputs, one after the other
//   linear_glu  y [T, out / 2] = activation(even rows) * odd rows
//   split_linear  y [T, parts * out], of each part of the columns its own sums; no bias
//
// OUT are all rows, as the outputs have them; of a cut weight (kernel.h) the matrix at hand holds
// ROWS of them, from FIRST_ROW on.
//
// matrix multiplies on the matrix units of subgroups, which take f16: x and weights are multiplied
// by a power of two and rounded to 11 bits, sums stay f32. An f16 that overflows makes its results
// no numbers; the tile is then computed once more, with the powers that bring its largest values to
// 2^14. What is small loses no more than 2^-33 (x) and 2^-31 (weights) to the smallest f16.
//
// matvec reads each weight once for one token, small_batch once for up to 8, small_batch_dot4 once
// for up to 4, by dot products of bytes as matvec_dot4; matmul is tiled for many; linear_any takes
// rows of any length. All accumulate in f32, the reference in f64. An ending is a small file
// (store_*.wgsl) that receives two neighbouring rows, so that no product kernel is written twice.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> linear_variants();
}
