// Draws the next token on the device from the list that topk_tokens makes. See graph/sampling_ops.h
// for the contract.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> sample_token_variants();

}  // namespace tokamak
