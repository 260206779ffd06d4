// Norms of heads, rotation and append of a step of many rows, in one launch: see RopeAppend in
// graph/rope_append.h. Norms are those of norm/rms_norm.h, rotation that of rope/rope.h, the cache
// that of attention.h.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> rope_append_variants();

/// Rows [first, last) of a RopeAppend on the host. Different rows write different cells.
void rope_append_rows(const CpuCall& call, size_t first, size_t last);

}  // namespace tokamak
