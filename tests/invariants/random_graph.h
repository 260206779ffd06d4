// Small random graphs with their constants, rich in what the fusion passes look for.
#pragma once
#include <cstdint>

#include "backend/backend.h"
#include "formats/tensor_file.h"
#include "graph/graph.h"

namespace tokamak::invariants {

/// Token ids are below this.
inline constexpr uint32_t kVocab = 23;

struct RandomGraph {
  Graph graph;
  TensorFile constants;  // as a checkpoint would hold them
};

/// The same graph for the same seed on every machine. Fails the running test when the graph is not
/// valid.
RandomGraph random_graph(uint32_t seed);

}  // namespace tokamak::invariants
