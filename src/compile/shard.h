// Cuts a graph for ranks: devices that run one model together, each with a part of its weights.
//
// A product by rows of a weight (queries, keys, values; the gate and what it gates; of each expert)
// gives a rank some columns, what follows is done on those, and the product by as many columns of a
// weight (the output of attention, the second of a feed-forward layer) gives each rank a part of
// the sum: an all_reduce adds them up. Logits are cut by the rows of their weight, and gathered.
// All else, and whatever has no such form, every rank computes whole.
//
// Every rank runs the same graph: what differs is which rows and columns its constants are
// (graph/rank_cut.h). Heads and columns that do not come out even are filled up with zeros.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace tokamak {

struct ShardReport {
  uint32_t attentions = 0, feed_forwards = 0;  // that are cut, those of experts included
  uint32_t whole = 0;                          // products with weights that are not
  bool logits = false;
  uint64_t bytes = 0, rank_bytes = 0;  // of all constants, and of those that a rank has of them
};

/// REQUIRES: an unfused graph, 2 to kMaxRanks ranks.
Graph shard(Graph graph, uint32_t ranks, ShardReport* report = nullptr);

/// shard() for the graphs of one program, the report on the first of them. Errors: they would have
/// another part of a state.
Result<std::vector<Graph>> shard_all(std::vector<Graph> graphs, uint32_t ranks,
                                     ShardReport* report = nullptr);

}  // namespace tokamak
