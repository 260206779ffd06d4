// Products with what a decoder has before and after them; see linear.h for the product itself, and
// graph/fused_ops.h for the contract. For one token only: matvec.wgsl, with a text for what is
// before (prologue/*.wgsl) and the ending of the op that is after.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> fused_linear_variants();
/// The same of GatedFfn (gated_ffn.h), whose first product is one of these.
void gated_ffn_reference(const CpuCall& call);
}  // namespace tokamak
