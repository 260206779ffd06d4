// AheadLoop the next token on the device: the best of each block of columns, then the best of
// those, which becomes the frame's next token. See graph/sampling_ops.h for the contract.
#pragma once
#include <span>
#include <string>

#include "kernels/kernel.h"

namespace tokamak {

/// The reference of block_argmax for one row: pairs of a value and its column.
void block_argmax(std::span<const float> x, std::span<float> pairs);

/// Why a kernel that chooses a token does not take the problem; "" if it does.
std::string for_one_token(const Problem& p, const DeviceInfo&);

/// Makes the frame of a reference that of the next step, which has this token.
void to_next_step(const CpuCall& call, uint32_t token);

std::span<const KernelVariant> sampling_variants();

}  // namespace tokamak
