// When each activation is alive: from the node that makes it to its last use.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace tokamak {

/// Indices of nodes, both included. A value nobody uses dies where it is made; the graph's result
/// lives to the end (node count).
struct LiveRange {
  uint32_t first = 0, last = 0;
  bool operator==(const LiveRange&) const = default;
};

/// One range per value; meaningless for values that no node makes.
std::vector<LiveRange> live_ranges(const Graph& graph);

}  // namespace tokamak
