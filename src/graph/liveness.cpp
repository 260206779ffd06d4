#include "graph/liveness.h"

namespace tokamak {

std::vector<LiveRange> live_ranges(const Graph& graph) {
  std::vector<LiveRange> ranges(graph.values.size());
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].inputs) ranges[uint32_t(id)].last = n;
    for (const ValueId id : graph.nodes[n].outputs) ranges[uint32_t(id)] = {n, n};
  }
  ranges[uint32_t(graph.result)].last = uint32_t(graph.nodes.size());
  return ranges;
}

}  // namespace tokamak
