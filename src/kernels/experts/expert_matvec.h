// Products by chosen experts as linear/matvec.wgsl computes those of one matrix: x' made once for
// many rows of an expert, units of weights as long as a load, by dot products of bytes where
// weights have 4 or 8 bits.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// Before the other variants of their ops.
std::span<const KernelVariant> expert_matvec_variants();

/// Why a variant does not take a product of several tokens by reading the experts of each: a slot
/// reads its weights for itself, so that they should hardly share any.
std::string shares_experts(const Problem& p);

}  // namespace tokamak
