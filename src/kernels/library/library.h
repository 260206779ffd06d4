// Kernels around the products of a vendor's library; see graph/library_ops.h.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// What is off by some units of f32 may be rounded to the bf16 beside the right one.
inline constexpr double kBf16Step = 0x1p-8;

std::span<const KernelVariant> library_variants();

}  // namespace tokamak
