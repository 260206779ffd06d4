// A norm with the addition after it, the factor on the sum, and the norm of that: see NormAdd in
// graph/fused_norm.h. Norms are those of rms_norm.h.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// With the results rounded where the op says so.
Launch norm_add_launch(const Problem& problem, bool subgroups);

/// Those that round nothing; for the others see half_norms.h.
std::span<const KernelVariant> norm_add_variants();

}  // namespace tokamak
