// The list of the most probable tokens, for sampling on the host: the peak of each block of
// columns, the blocks with the best maxima, and of what is in those the best. Three launches that
// know nothing of each other's order of work; ranks are counted, so equal inputs give equal lists.
// See graph/sampling_ops.h for the contracts.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> top_token_variants();

}  // namespace tokamak
