// A region of a graph that ranks cut together: from products by rows of weights, over what follows
// on their columns, to the product that takes those columns in.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace tokamak {

/// Who makes the values of a graph, and who reads them.
class GraphIndex {
 public:
  explicit GraphIndex(const Graph& graph);

  /// Null for inputs, constants and states.
  const Node* maker(ValueId id) const;
  std::optional<size_t> maker_index(ValueId id) const;
  const std::vector<size_t>& users(ValueId id) const { return users_[uint32_t(id)]; }

 private:
  const Graph& graph_;
  std::vector<std::optional<size_t>> maker_;
  std::vector<std::vector<size_t>> users_;
};

/// The same number for every rank, of whole units.
RankCut even_cut(uint32_t total, uint32_t ranks, uint32_t unit);

struct ShardRegion {
  RankCut taken;                        // columns of the last product's weight
  std::map<ValueId, RankCut> columns;   // of activations; of each slot where there are several
  std::map<ValueId, RankCut> rows;      // of weights and vectors: of each expert
  std::map<ValueId, uint32_t> experts;  // of those weights and vectors that have some
  std::map<ValueId, RankCut> heads;     // of states for keys and values
  std::set<size_t> nodes;               // without the last product
  bool has_attention = false;
};

/// The region that ends in the product at node `root`, where it has one that no node outside reads.
/// Attention is cut by heads, all else by columns; packed columns in whole groups.
std::optional<ShardRegion> find_region(const Graph& graph, const GraphIndex& index, size_t root,
                                       uint32_t ranks);

}  // namespace tokamak
