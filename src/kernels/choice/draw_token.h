// Drawing the next token on the device from the list that top_tokens makes. See
// graph/choice_ops.h for the contract.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> draw_token_variants();

}  // namespace tokamak
