// Kernels around the products of a vendor's library; see graph/library_ops.h.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> library_variants();

}  // namespace tokamak
