// The merge of an unfinished attention's parts: flash decoding (Dao et al. 2023,
// crfm.stanford.edu/2023/10/12/flashdecoding.html), as a launch of its own where no product that
// follows does it (linear/prologue/merge_splits.wgsl).
//
//   merge_splits   x f32 [T, splits*heads*(d + 2)] -> y f32 [T, heads*d]; the kernel takes an even
//   d
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> merge_splits_variants();

/// The whole attention of a row of `splits` parts, y.size() columns wide; see StepAttention.
void merge_splits(std::span<const float> row, size_t splits, std::span<float> y);

}  // namespace tokamak
