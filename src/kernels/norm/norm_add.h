// A norm with the addition after it, the factor on the sum, and the norm of that: see NormAdd in
// graph/fused_norm.h. Norms are those of rms_norm.h.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> norm_add_variants();

}  // namespace tokamak
