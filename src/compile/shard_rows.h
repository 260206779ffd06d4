// The rows of constants that ranks have.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace tokamak {

/// Rows or columns that follow one another, such as those of q, k and v, each cut by itself.
using RankCuts = std::vector<RankCut>;

/// How many all of them have, and how many a rank has.
uint32_t total_of(const RankCuts& cuts);
uint32_t each_of(const RankCuts& cuts);

/// Whether a rank's part of the constant's rows, or of each expert's, can be read: that of one
/// tensor, of tensors that follow one another, or of heads that lie in one at equal distances.
bool can_cut_rows(const TensorDesc& constant, const RankCuts& cuts, uint32_t experts);

/// Keeps those rows. REQUIRES: can_cut_rows().
void cut_rows(TensorDesc& constant, const RankCuts& cuts, uint32_t experts);

/// Whether a rank's part of each adapter's rows can be read.
bool can_cut_adapters(const TensorDesc& constant, const RankCuts& cuts);

/// Keeps those columns of a weight or of adapters.
void cut_columns(TensorDesc& constant, const RankCut& cut);

}  // namespace tokamak
