#include "compile/shard.h"

#include <algorithm>

#include "base/check.h"
#include "compile/shard_region.h"
#include "graph/is_any.h"
#include "graph/kv_cache.h"

namespace tokamak {
namespace {

/// Rows of the logits' weight that a rank has at least.
constexpr uint32_t kMinLogits = 32;

bool is_product(const Node& node) {
  return std::holds_alternative<Linear>(node.op) || std::holds_alternative<ExpertLinear>(node.op);
}

uint64_t constant_bytes(const Graph& graph) {
  uint64_t bytes = 0;
  for (const TensorDesc& value : graph.values) {
    if (value.storage == Storage::kConstant) bytes += byte_count(value, 1);
  }
  return bytes;
}

class Sharder {
 public:
  Sharder(Graph graph, uint32_t ranks) : graph_(std::move(graph)), ranks_(ranks), index_(graph_) {}

  Graph run(ShardReport& report) {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!is_product(graph_.nodes[i]) || taken_.contains(i)) continue;
      const auto region = find_region(graph_, index_, i, ranks_);
      if (!region) continue;
      apply(*region, i);
      ++(region->has_attention ? report.attentions : report.feed_forwards);
    }
    report.logits = cut_logits();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (is_product(graph_.nodes[i]) && !taken_.contains(i)) ++report.whole;
    }
    join_sums();
    find_residuals();
    insert_ops();
    remove_unused(graph_);
    return std::move(graph_);
  }

 private:
  void apply(const ShardRegion& region, size_t root) {
    for (const auto& [id, cuts] : region.columns) {
      Dim& width = graph_.at(id).shape[1];
      width = width / Dim{total_of(cuts)} * Dim{each_of(cuts)};
    }
    for (const auto& [id, cuts] : region.rows) {
      const auto found = region.experts.find(id);
      const uint32_t experts = found == region.experts.end() ? 1 : found->second;
      if (!std::holds_alternative<Fill>(graph_.at(id).recipe)) {
        cut_rows(graph_.at(id), cuts, experts);
        continue;
      }
      const ValueId own = cut_fill(id, cuts, experts);
      for (const size_t at : region.nodes) std::ranges::replace(graph_.nodes[at].inputs, id, own);
    }
    for (const ValueId id : region.adapters) cut_columns(graph_.at(id), region.taken);
    for (const auto& [id, cut] : region.elements) cut_columns(graph_.at(id), cut);
    for (const auto& [id, cut] : region.matrices) graph_.at(id).shape[0] = cut.each;
    for (const auto& [at, op] : region.ops) graph_.nodes[at].op = op;
    for (const auto& [id, cut] : region.heads) {
      TensorDesc& cache = graph_.at(id);
      const Dim width = cached_head_dim(cache.dtype, cache.shape);
      cache.shape = cache_shape(cache.dtype, cache.shape[0], cut.each, width);
      cache.state = kv_cache_spec(cut.each, width, cache.window);
    }
    taken_.insert(region.nodes.begin(), region.nodes.end());
    taken_.insert(root);
    const Node& node = graph_.nodes[root];
    cut_columns(graph_.at(node.inputs[1]), region.taken);
    const size_t bias = std::holds_alternative<Linear>(node.op) ? 2 : 3;
    if (node.inputs.size() > bias) {
      TensorDesc& vector = graph_.at(node.inputs[bias]);
      cut_rows(vector, {only_first(uint32_t(vector.shape[0]))}, 1);
    }
    partial_.insert(end_of_sum(node.outputs[0]));
  }

  /// A fill of those rows; others may have it whole.
  ValueId cut_fill(ValueId id, const RankCuts& cuts, uint32_t experts) {
    const auto [found, is_new] = fills_.try_emplace({id, experts * each_of(cuts)});
    if (is_new) {
      TensorDesc own = graph_.at(id);
      cut_rows(own, cuts, experts);
      graph_.values.push_back(std::move(own));
      found->second = ValueId(graph_.values.size() - 1);
    }
    return found->second;
  }

  /// Whether ranks can have some rows each of a product's weight.
  bool can_cut_outputs(size_t at) const {
    const TensorDesc& matrix = graph_.at(graph_.nodes[at].inputs[1]);
    const auto* weight = std::get_if<Weight>(&matrix.recipe);
    return weight != nullptr && weight->parts.size() == 1;
  }

  /// Gives each rank some columns of a product, which are gathered.
  void cut_outputs(size_t at) {
    const ValueId id = graph_.nodes[at].outputs[0];
    const auto rows = uint32_t(graph_.at(id).shape[1]);
    const RankCut cut = even_cut(rows, ranks_, 1);
    for (size_t operand = 1; operand < graph_.nodes[at].inputs.size(); ++operand) {
      // The table of tokens is often the same tensor as that of logits, and stays whole.
      ValueId& input = graph_.nodes[at].inputs[operand];
      TensorDesc own = graph_.at(input);
      cut_rows(own, {cut}, 1);
      graph_.values.push_back(std::move(own));
      input = ValueId(graph_.values.size() - 1);
    }
    graph_.at(id).shape[1] = cut.each;
    taken_.insert(at);
    gathered_[id] = rows;
  }

  bool is_read_once(ValueId id) const {
    return index_.users(id).size() == 1 && id != graph_.result;
  }

  /// The value after ops that may as well come before the sum over ranks.
  ValueId end_of_sum(ValueId id) const {
    while (is_read_once(id)) {
      const Node& user = graph_.nodes[index_.users(id).front()];
      if (!is_any<ExpertSum, Scale, LoraUp>(user.op) || user.inputs[0] != id) break;
      id = user.outputs[0];
    }
    return id;
  }

  /// The product that gives logits, of which each rank makes some.
  bool cut_logits() {
    ValueId id = graph_.result;
    const Node* node = index_.maker(id);
    while (node != nullptr &&
           (std::holds_alternative<Softcap>(node->op) || std::holds_alternative<Scale>(node->op))) {
      id = node->inputs[0];
      node = index_.maker(id);
    }
    if (node == nullptr || !std::holds_alternative<Linear>(node->op)) return false;
    const size_t at = *index_.maker_index(id);
    if (taken_.contains(at) || !can_cut_outputs(at) || index_.users(id).size() > 1 ||
        graph_.at(id).shape[1] < Dim{kMinLogits} * Dim{ranks_}) {
      return false;
    }
    cut_outputs(at);
    return true;
  }

  /// One all_reduce for two sums that are added.
  void join_sums() {
    for (const Node& node : graph_.nodes) {
      if (!std::holds_alternative<Add>(node.op) || node.inputs[0] == node.inputs[1]) continue;
      const bool both = std::ranges::all_of(
          node.inputs, [&](ValueId id) { return partial_.contains(id) && is_read_once(id); });
      if (!both) continue;
      for (const ValueId id : node.inputs) partial_.erase(id);
      partial_.insert(node.outputs[0]);
    }
  }

  /// The adds that all_reduce does on its way.
  void find_residuals() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (!std::holds_alternative<Add>(node.op) || node.inputs[0] == node.inputs[1]) continue;
      for (const size_t operand : {0u, 1u}) {
        const ValueId id = node.inputs[operand];
        if (!partial_.contains(id) || !is_read_once(id)) continue;
        partial_.erase(id);
        residuals_[i] = operand;
        break;
      }
    }
  }

  void insert_ops() {
    std::vector<Node> nodes;
    std::map<ValueId, ValueId> whole;  // of values that every rank has a part of
    const auto follow = [&](const Op& op, ValueId of, Dim columns) {
      TensorDesc all = graph_.at(of);
      all.shape[1] = columns;
      graph_.values.push_back(std::move(all));
      whole[of] = ValueId(graph_.values.size() - 1);
      nodes.push_back({op, {of}, {whole[of]}});
    };
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = nodes.emplace_back(graph_.nodes[i]);
      for (ValueId& id : node.inputs) {
        if (const auto found = whole.find(id); found != whole.end()) id = found->second;
      }
      if (const auto found = residuals_.find(i); found != residuals_.end()) {
        if (found->second == 1) std::swap(node.inputs[0], node.inputs[1]);
        node.op = AllReduce{.ranks = ranks_};
      }
      const ValueId out = node.outputs[0];
      if (const auto found = gathered_.find(out); found != gathered_.end()) {
        follow(AllGather{.ranks = ranks_, .columns = found->second}, out, found->second);
      } else if (partial_.contains(out)) {
        follow(AllReduce{.ranks = ranks_}, out, graph_.at(out).shape[1]);
      }
    }
    if (const auto found = whole.find(graph_.result); found != whole.end()) {
      graph_.result = found->second;
    }
    const auto last = std::find_if(nodes.rbegin(), nodes.rend(),
                                   [](const Node& node) { return is_collective(node.op); });
    if (last != nodes.rend()) {
      if (auto* reduce = std::get_if<AllReduce>(&last->op)) reduce->last = true;
      if (auto* gather = std::get_if<AllGather>(&last->op)) gather->last = true;
    }
    join_norms(nodes);
    graph_.nodes = std::move(nodes);
  }

  /// One launch, and one crossing, for two norms that follow one another: of queries and of keys.
  static void join_norms(std::vector<Node>& nodes) {
    for (size_t i = 0; i + 1 < nodes.size(); ++i) {
      auto* norm = std::get_if<AllNorm>(&nodes[i].op);
      const Node& next = nodes[i + 1];
      const auto* other = std::get_if<AllNorm>(&next.op);
      if (norm == nullptr || other == nullptr || norm->eps != other->eps ||
          next.inputs[0] == nodes[i].outputs[0]) {
        continue;
      }
      norm->other_columns = other->columns;
      nodes[i].inputs.insert(nodes[i].inputs.end(), next.inputs.begin(), next.inputs.end());
      nodes[i].outputs.push_back(next.outputs[0]);
      nodes.erase(nodes.begin() + std::ptrdiff_t(i) + 1);
    }
  }

  Graph graph_;
  uint32_t ranks_;
  GraphIndex index_;                      // of the graph as it came
  std::set<size_t> taken_;                // nodes that are cut
  std::set<ValueId> partial_;             // values whose sum over all ranks is meant
  std::map<ValueId, uint32_t> gathered_;  // of whose columns ranks have some: how many all have
  std::map<std::pair<ValueId, uint32_t>, ValueId> fills_;  // by what they fill, and rows
  std::map<size_t, size_t> residuals_;  // adds of such a sum: which operand it is
};

}  // namespace

Graph shard(Graph graph, uint32_t ranks, ShardReport* report) {
  TOK_CHECK(ranks >= 2 && ranks <= kMaxRanks);
  ShardReport own;
  own.bytes = constant_bytes(graph);
  Graph cut = Sharder(std::move(graph), ranks).run(own);
  own.rank_bytes = constant_bytes(cut);
  if (report != nullptr) *report = own;
  return cut;
}

Result<std::vector<Graph>> shard_all(std::vector<Graph> graphs, uint32_t ranks,
                                     ShardReport* report) {
  std::map<std::string, Shape> states;
  for (Graph& graph : graphs) {
    graph = shard(std::move(graph), ranks, &graph == graphs.data() ? report : nullptr);
    for (const TensorDesc& value : graph.values) {
      if (value.storage != Storage::kState || value.name.empty()) continue;  // a later form of one
      const auto [found, is_new] = states.emplace(value.name, value.shape);
      if (is_new || found->second == value.shape) continue;
      return unsupported(
          "The state \"{}\" would be cut in another way for other steps of the model: it runs on "
          "one GPU only.",
          value.name);
    }
  }
  return graphs;
}

}  // namespace tokamak
