// LayerNorm over groups of n:  y = (x - mean(x)) * rsqrt(mean((x - mean(x))^2) + eps) * w + b
//
//   x  f32 [T, k*n]   each group of n is normalised by itself: a row (k = 1) or a head
//   w  f32 [n]
//   b  f32 [n]        may be missing
//   y  f32 [T, k*n]
//
// The mean comes first and the squares are of what is left, so that a large mean costs no digits.
// Sums are accumulated in f32 on devices, in f64 in the reference.
// Reference: Ba, Kiros & Hinton 2016, arXiv:1607.06450.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// The norm of every group of w.size() numbers of x, in f64, for every reference that has one.
/// `bias` may be empty, and `y` x.
void layer_norm(std::span<const float> x, std::span<const float> w, std::span<const float> bias,
                float eps, std::span<float> y);

std::span<const KernelVariant> layer_norm_variants();

}  // namespace tokamak
