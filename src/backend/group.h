// Several devices as one: each has a program of its own with a part of the weights, a rank, and all
// run the same steps at the same time. docs/decisions/0089-ranks.md says how.
#pragma once
#include <memory>
#include <vector>

#include "backend/backend.h"

namespace tokamak {

/// Whether plans of one are right for all, and kernels give the same bits.
bool are_alike(std::span<const std::unique_ptr<Backend>> devices);

/// A backend over those of the ranks, in their order; `device()` is the first one's, for that
/// number of ranks. Errors: the devices differ in what plans depend on. REQUIRES: 2 to kMaxRanks
/// backends of one kind, whose programs connect().
Result<std::unique_ptr<Backend>> make_group(std::vector<std::unique_ptr<Backend>> ranks);

}  // namespace tokamak
