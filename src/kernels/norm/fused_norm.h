// Norms with the sum before them and the rounding after them: see FusedNorm in graph/fused_ops.h.
// What they compute is in rms_norm.h and layer_norm.h.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> fused_norm_variants();

}  // namespace tokamak
