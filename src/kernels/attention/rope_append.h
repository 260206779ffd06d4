// Norms of heads, rotation and append of a step of many rows, in one launch: see RopeAppend in
// graph/rope_append.h. Norms are those of norm/rms_norm.h, rotation that of rope/rope.h, the cache
// that of attention.h, in floats.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> rope_append_variants();

}  // namespace tokamak
