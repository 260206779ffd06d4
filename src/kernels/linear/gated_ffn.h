// Gated feed-forward networks of one token in a launch: GatedFfn.
//
// A workgroup has the gate and up of some columns, and so all it takes to multiply those columns of
// D. What the workgroups have of a row of D is added up exactly (graph/fixed_point_sums.h), in any
// order: no workgroup waits for another, and the result repeats bit by bit. Such a launch has fewer
// workgroups than two launches would; where columns are few, that costs less than a launch
// (docs/decisions/0022).
#pragma once
#include <span>

#include "kernels/linear/matvec.h"
#include "kernels/linear/tiling.h"

namespace tokamak {

std::span<const KernelVariant> gated_ffn_variants();

/// Texts and constants of what follows the glu.
void add_down(Launch& launch, const Problem& p, const UnitCodec& codec, const Tiling& tiling);

}  // namespace tokamak
