// GroupNorm of one group over all rows of a slot:
//   y = (x - mean(x)) * rsqrt(mean((x - mean(x))^2) + eps) * w[c] + b[c]
//
//   x  f32 [T, n]
//   w  f32 [n]
//   b  f32 [n]
//   y  f32 [T, n]
//
// A workgroup has a slot to itself: a model does this once for a sound. Sums are accumulated in f32
// on devices, in f64 in the reference. Reference: Wu & He 2018, arXiv:1803.08494.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> group_norm_variants();
}
