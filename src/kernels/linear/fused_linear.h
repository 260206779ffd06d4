// Products with what a decoder has before and after them; see linear.h for the product itself, and
// graph/fused_ops.h for the contract. For one token only: matvec.wgsl, with a text for what is
// before (prologue/*.wgsl) and the ending of the op that is after.
#pragma once
#include <span>
#include <vector>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> fused_linear_variants();
/// The same of GatedFfn (gated_ffn.h), whose first product is one of these.
void gated_ffn_reference(const CpuCall& call);

/// The x' of a fused linear or of a gated network's first product, [T, in]; keeps s where there is
/// one.
std::vector<float> fused_linear_input(const CpuCall& call);
/// Makes the results of a fused linear of its products y, [T, rows of W].
void end_fused_linear(const CpuCall& call, std::span<const float> y);
/// The same of a gated network's second product z, [T, n].
void end_gated_ffn(const CpuCall& call, std::span<const float> z);
}  // namespace tokamak
