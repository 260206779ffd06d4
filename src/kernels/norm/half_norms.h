// Norms whose results are rounded for the products of a vendor's library: fused_norm.h, norm_add.h.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> half_norm_variants();

}  // namespace tokamak
