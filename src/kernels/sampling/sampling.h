// Chooses the next token of each row on the device: the best of each block of columns, then the
// best of those, which becomes the slot's next token. See graph/sampling_ops.h for the contract.
#pragma once
#include <span>
#include <string>

#include "kernels/kernel.h"

namespace tokamak {

/// The reference of block_argmax for one row: pairs of a value and its column.
void block_argmax(std::span<const float> x, std::span<float> pairs);

/// Why a kernel that chooses tokens does not take the problem; "" if it does.
std::string for_decoding(const Problem& p, const DeviceInfo&);

/// Makes that row of a reference's batch the one of the next step, which has this token.
void to_next_step(const BatchView& batch, uint32_t row, uint32_t token);

std::span<const KernelVariant> sampling_variants();

}  // namespace tokamak
