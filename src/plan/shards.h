// Cutting weights by rows, so that every part can be bound at once and is of one type.
#pragma once
#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"

namespace tokamak {

/// A part of a cut weight: its rows as a constant of its own, and where they are in the whole.
struct Shard {
  TensorDesc tensor;
  RowCut cut;
  BufferId buffer = {};
};

/// For a weight that nothing reads but ops that can do so part by part, as their second input: how
/// many rows must stay together, 1 or those of an expert. 0 for any other value.
uint64_t rows_together(const Graph& graph, ValueId id);

/// The fewest parts of at most `limit` bytes, of about equal length; of a weight of
/// several types so of the rows of each. None when the whole is of one type and no larger than
/// that, or the least part is. Parts begin at even rows, at multiples of `together`, and where so
/// many rows fit at multiples of kArgmaxBlock. REQUIRES: a weight of [rows, columns].
std::vector<Shard> cut_rows(const TensorDesc& matrix, uint64_t limit, uint64_t together = 1);

}  // namespace tokamak
