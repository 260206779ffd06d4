// A region of a graph that ranks cut together: from products by rows of weights, over what follows
// on their columns, to the product that takes those columns in.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compile/shard_rows.h"

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
  std::map<ValueId, RankCuts> columns;  // of activations; of each slot where there are several
  std::map<ValueId, RankCuts> rows;     // of weights and vectors: of each expert or adapter
  std::map<ValueId, uint32_t> experts;  // of those weights and vectors that have some
  std::set<ValueId> adapters;           // of which columns are cut as those of the last product
  std::map<ValueId, RankCut> elements;  // of vectors, the rows of a constant
  std::map<ValueId, RankCut> heads;     // of states for keys and values
  std::map<ValueId, RankCut> matrices;  // of recurrent states
  std::map<size_t, Op> ops;             // of nodes that count heads or are norms of whole rows
  std::set<size_t> nodes;               // without the last product
  bool has_attention = false;           // or a recurrence
};

/// The region that ends in the product at node `root`, where it has one that no node outside reads.
/// Attention and recurrences are cut by heads, all else by columns; packed columns in whole groups.
std::optional<ShardRegion> find_region(const Graph& graph, const GraphIndex& index, size_t root,
                                       uint32_t ranks);

}  // namespace tokamak
