// Products with what a decoder has before and behind them; see linear.h for the product itself, and
// graph/fused_ops.h for the contract. For one token only: matvec.wgsl, with a text for what is
// before (before_*.wgsl) and the ending of the op that is behind.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> fused_linear_variants();
/// Of GatedDown (down.h), whose first product is one of these.
void gated_down_reference(const CpuCall& call);
}  // namespace tokamak
