// Norms with the sum before them and the rounding after them: see FusedNorm in graph/fused_ops.h.
// What they compute is in rms_norm.h and layer_norm.h.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// With the results rounded where the op says so.
Launch fused_norm_launch(const Problem& problem, bool subgroups);

/// Those that round nothing; for the others see half_norms.h.
std::span<const KernelVariant> fused_norm_variants();

}  // namespace tokamak
