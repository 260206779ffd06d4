// Choosing the next token on the device: the best of each block of columns, then the best of those,
// which becomes the frame's next token. See graph/choice_ops.h for the contract.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// The reference of block_argmax for one row: pairs of a value and its column.
void block_argmax(std::span<const float> x, std::span<float> pairs);

std::span<const KernelVariant> choice_variants();

}  // namespace tokamak
