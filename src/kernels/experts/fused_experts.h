// The work of a mixture of experts between its routing and the residual stream:
//
//   expert_glu  x f32 [T, in], w of any matrix type [experts*2*n, in], chosen u32 [T, top_k],
//               norm? f32 [in], bias? f32 [experts*2*n] -> y f32 [T, top_k*n]
//   expert_mix  x f32 [T, top_k*in], w of any matrix type [experts*out, in], chosen u32 [T, top_k],
//               shares f32 [T, top_k], bias? f32 [experts*out], residual? f32 [T, out]
//               -> y f32 [T, out]
//
// See graph/expert_ops.h for the contract. For one token both read the weights of its experts and
// no others; for many expert_glu is the matmul of experts.h, and expert_mix is not made. Sums are
// f32 on devices, f64 in the references. Of a cut matrix they see whole experts: expert_glu writes
// the slots of those, expert_mix adds them to what the parts before have written.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> fused_expert_variants();
}
