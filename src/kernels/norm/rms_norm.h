// RMSNorm over groups of n:  y = x * rsqrt(mean(x^2) + eps) * w
//
//   x  f32 [T, k*n]   each group of n is normalised by itself: a row (k = 1) or a head
//   w  f32 [n]        plain weights: the importer has folded Gemma's (1 + w)
//   y  f32 [T, k*n]
// and add_rms_norm, which forms sum = a + b on the way (k = 1) and keeps it as its first output.
//
// Sums of squares are accumulated in f32 on devices, in f64 in the reference.
// Reference: Zhang & Sennrich 2019, arXiv:1910.07467, equation 4.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace tokamak {

/// The norm of every group of w.size() numbers of x, in f64, for every reference that has one. `y`
/// may be x.
void rms_norm(std::span<const float> x, std::span<const float> w, float eps, std::span<float> y);

/// For every kernel with a workgroup per group of as many numbers as operand `weight` has, in units
/// of one or four: `sources` without those of the units and of the reduction.
Launch norm_launch(const Problem& problem, float eps, size_t weight,
                   std::vector<std::string> sources, bool subgroups);

/// One of a pair of variants, with subgroups or without.
template <Launch (*kLaunch)(const Problem&, bool), bool kSubgroups>
Launch norm_variant(const Problem& problem, const DeviceInfo&) {
  return kLaunch(problem, kSubgroups);
}

std::span<const KernelVariant> rms_norm_variants();

}  // namespace tokamak
