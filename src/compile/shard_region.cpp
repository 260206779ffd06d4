#include "compile/shard_region.h"

#include <algorithm>
#include <numeric>

#include "base/bits.h"
#include "base/packing.h"
#include "graph/is_any.h"
#include "graph/kv_cache.h"

namespace tokamak {
namespace {

/// The unit of the columns that LoraDown reads.
constexpr uint32_t kLoraColumns = 8;

/// Columns of a row of which whole groups stay together.
uint32_t column_unit(const TensorDesc& matrix) {
  const auto of = [](DType dtype) {
    return is_packed(dtype) ? weight_format(dtype).row_unit() : 1u;
  };
  uint32_t unit = of(matrix.dtype);
  for (const WeightPart& part : std::get<Weight>(matrix.recipe).parts) {
    if (part.dtype) unit = std::lcm(unit, of(*part.dtype));
  }
  return unit;
}

/// The heads of attention: of keys, and of queries.
struct HeadCut {
  RankCut keys, queries;
};

/// Cuts `keys` heads, each of which `each` heads of queries read; ranks have whole multiples of
/// `unit` heads of queries. Nothing where a rank would have all.
std::optional<HeadCut> head_cut(uint32_t keys, uint32_t each, uint32_t ranks, uint32_t unit) {
  HeadCut cut;
  if (keys >= ranks) {
    uint32_t own = ceil_div(keys, ranks);
    while (own < keys && own * each % unit != 0) ++own;
    if (own >= keys) return std::nullopt;
    cut.keys = {.each = own, .group = own, .total = keys};
    cut.queries = cut.keys.times(each);
    return cut;
  }
  const uint32_t share = ranks / keys;
  const uint32_t own = round_up(ceil_div(each, share), unit);
  if (own >= each * keys || each % unit != 0) return std::nullopt;
  cut.keys = {.each = 1, .group = 1, .share = share, .total = keys};
  cut.queries = {.each = own, .group = each, .share = share, .step = own, .total = keys * each};
  return cut;
}

class Finder {
 public:
  Finder(const Graph& graph, const GraphIndex& index, size_t root, uint32_t ranks)
      : graph_(graph), index_(index), root_(root), ranks_(ranks) {}

  std::optional<ShardRegion> run() {
    const Node& root = graph_.nodes[root_];
    const TensorDesc& matrix = graph_.at(root.inputs[1]);
    const bool reads_slots =
        std::holds_alternative<ExpertLinear>(root.op) &&
        graph_.at(root.inputs[0]).shape[1] == matrix.shape[1] * graph_.at(root.inputs[2]).shape[1];
    if (!std::holds_alternative<Weight>(matrix.recipe) ||
        index_.users(root.inputs[1]).size() != 1 ||
        (std::holds_alternative<ExpertLinear>(root.op) && !reads_slots)) {
      return std::nullopt;
    }
    if (!propose(root.inputs[0], matrix, column_unit(matrix)) ||
        !pull(root.inputs[0], {own_.taken}) || !take_adapters() || !is_closed()) {
      return std::nullopt;
    }
    return own_;
  }

  /// Cuts what adapters add to the last product: as that, a sum over the columns that ranks have.
  bool take_adapters() {
    const Node& root = graph_.nodes[root_];
    for (const size_t user : index_.users(root.inputs[0])) {
      const Node& down = graph_.nodes[user];
      if (!std::holds_alternative<LoraDown>(down.op)) continue;
      const auto& ups = index_.users(down.outputs[0]);
      const bool is_only = ups.size() == 1 && graph_.nodes[ups[0]].inputs[0] == root.outputs[0];
      if (!is_only || own_.taken.each % kLoraColumns != 0) return false;
      own_.nodes.insert(user);
      own_.adapters.insert(down.inputs[1]);
    }
    return std::ranges::all_of(index_.users(root.outputs[0]), [&](size_t user) {
      const Node& up = graph_.nodes[user];
      return !std::holds_alternative<LoraUp>(up.op) ||
             own_.nodes.contains(*index_.maker_index(up.inputs[1]));
    });
  }

 private:
  const TensorDesc& at(ValueId id) const { return graph_.at(id); }

  /// Attention or a recurrence from which a value comes element by element or head by head.
  const Node* find_attention(ValueId id) const {
    const Node* node = index_.maker(id);
    if (node == nullptr) return nullptr;
    if (is_any<Attention, LatentAttention, GatedDelta, SelectiveScan>(node->op)) return node;
    if (is_any<Glu>(node->op)) {
      const Node* first = find_attention(node->inputs[0]);
      return first != nullptr ? first : find_attention(node->inputs[1]);
    }
    const bool goes_on = is_any<Scale, RmsNorm, HeadLinear, Standardize>(node->op);
    return goes_on ? find_attention(node->inputs[0]) : nullptr;
  }

  /// Heads of keys, of queries of latents or groups of a scan, and heads of queries or values for
  /// each of them.
  struct Heads {
    uint32_t keys = 0, each = 0;  // 0: not known
    bool may_share = false;       // ranks may have the same heads, or some of zeros
  };
  Heads heads_of(const Node& node) const {
    if (const auto* rule = std::get_if<GatedDelta>(&node.op)) {
      const uint32_t values = uint32_t(at(node.inputs[3]).shape[0]);
      return {.keys = rule->tiled ? 0 : rule->key_heads, .each = values / rule->key_heads};
    }
    if (const auto* scan = std::get_if<SelectiveScan>(&node.op)) {
      return {.keys = scan->groups,
              .each = uint32_t(at(node.inputs[3]).shape[0]) / scan->groups,
              .may_share = true};
    }
    if (std::holds_alternative<Attention>(node.op)) {
      const TensorDesc& cache = at(node.inputs[1]);
      if (!holds_keys_and_values(cache)) return {};
      const auto keys = uint32_t(cache.shape[2]);
      const auto width = uint32_t(cached_head_dim(cache.dtype, cache.shape));
      return {.keys = keys,
              .each = uint32_t(at(node.outputs[0]).shape[1]) / width / keys,
              .may_share = true};
    }
    const Node* query = index_.maker(node.inputs[0]);
    const auto* product = query == nullptr ? nullptr : std::get_if<HeadLinear>(&query->op);
    return {.keys = product == nullptr ? 0 : product->heads, .each = 1};
  }

  /// `unit`: columns of the matrix that stay together.
  bool propose(ValueId x, const TensorDesc& matrix, uint32_t unit) {
    const uint32_t columns = uint32_t(matrix.shape[1]);
    const Node* attention = find_attention(x);
    if (attention == nullptr) {
      own_.taken = even_cut(columns, ranks_, unit);
      return own_.taken.each < columns;
    }
    const Heads heads = heads_of(*attention);
    if (heads.keys == 0) return false;
    const uint32_t width = columns / (heads.keys * heads.each);
    heads_ = head_cut(heads.keys, heads.each, ranks_, unit / std::gcd(unit, width));
    if (!heads_) return false;
    const bool is_even = heads_->keys.each * ranks_ == heads.keys;
    if (!is_even && !heads.may_share) return false;
    own_.taken = heads_->queries.times(width);
    return true;
  }

  /// Cuts the columns of a value and what they come from.
  bool pull(ValueId id, const RankCuts& cuts) {
    const auto [place, is_new] = own_.columns.emplace(id, cuts);
    if (!is_new) return place->second == cuts;
    const auto maker = index_.maker_index(id);
    if (!maker) return false;
    own_.nodes.insert(*maker);
    return std::visit([&](const auto& op) { return pull(op, graph_.nodes[*maker], cuts); },
                      graph_.nodes[*maker].op);
  }

  /// Element by element, what a value comes from has the same columns.
  template <typename T>
  bool pull(const T&, const Node& node, const RankCuts& cuts) {
    constexpr bool kIsElementwise = std::is_same_v<T, Activate> || std::is_same_v<T, Scale> ||
                                    std::is_same_v<T, Clamp> || std::is_same_v<T, PositionScale>;
    return kIsElementwise && pull(node.inputs[0], cuts);
  }
  bool pull(const Linear&, const Node& node, const RankCuts& cuts) {
    return pull_rows(node.inputs[1], cuts, 1) &&
           (node.inputs.size() < 3 || pull_rows(node.inputs[2], cuts, 1));
  }
  bool pull(const LoraUp&, const Node& node, const RankCuts& cuts) {
    const TensorDesc& up = at(node.inputs[2]);
    if (!can_cut_adapters(up, cuts)) return false;
    own_.rows[node.inputs[2]] = cuts;
    own_.experts[node.inputs[2]] = uint32_t(up.shape[0] / Dim{total_of(cuts)});
    return pull(node.inputs[0], cuts);
  }
  bool pull(const ExpertLinear& op, const Node& node, const RankCuts& cuts) {
    const bool reads_rows = at(node.inputs[0]).shape[1] == at(node.inputs[1]).shape[1];
    return reads_rows && pull_rows(node.inputs[1], cuts, op.experts) &&
           (node.inputs.size() < 4 || pull_rows(node.inputs[3], cuts, op.experts));
  }
  bool pull(const Glu& op, const Node& node, const RankCuts& cuts) {
    return op.first == 0 && at(node.inputs[0]).shape == at(node.inputs[1]).shape &&
           pull(node.inputs[0], cuts) && pull(node.inputs[1], cuts);
  }
  bool pull(const Add&, const Node& node, const RankCuts& cuts) {
    return pull(node.inputs[0], cuts) && pull(node.inputs[1], cuts);
  }
  bool pull(const RmsNorm& op, const Node& node, const RankCuts& cuts) {
    const uint32_t width = uint32_t(at(node.inputs[1]).shape[0]);
    return (has_whole(cuts, width) || spread(op, node, cuts, width)) && pull(node.inputs[0], cuts);
  }
  /// A norm of whole rows is one over all ranks.
  bool spread(const RmsNorm& op, const Node& node, const RankCuts& cuts, uint32_t width) {
    if (cuts.size() != 1 || cuts.front().total != width || !pull_rows(node.inputs[1], cuts, 1)) {
      return false;
    }
    const uint32_t copies = cuts.front().step == 0 ? cuts.front().share : 1;
    own_.ops[index_of(node)] = AllNorm{.ranks = ranks_, .columns = copies * width, .eps = op.eps};
    return true;
  }
  bool pull(const Rope& op, const Node& node, const RankCuts& cuts) {
    return has_whole(cuts, op.head_dim) && pull(node.inputs[0], cuts);
  }
  bool pull(const Attention&, const Node& node, const RankCuts& cuts) {
    const TensorDesc& cache = at(node.inputs[1]);
    const uint32_t width = uint32_t(cached_head_dim(cache.dtype, cache.shape));
    if (!heads_ || own_.has_attention || cuts != RankCuts{heads_->queries.times(width)})
      return false;
    own_.has_attention = true;
    if (!pull(node.inputs[0], cuts) || !pull_cache(node.inputs[1], heads_->keys, width)) {
      return false;
    }
    if (node.inputs.size() < 4 || at(node.inputs[3]).dtype == DType::kU32) return true;
    // Sinks, a number for each head; a bias by distance has them as columns.
    return at(node.inputs[3]).shape.size() == 1 && pull_rows(node.inputs[3], {heads_->queries}, 1);
  }

  bool pull(const LatentAttention&, const Node& node, const RankCuts& cuts) {
    if (!heads_ || own_.has_attention) return false;
    own_.has_attention = true;
    const auto of = [&](ValueId id) {
      return RankCuts{heads_->queries.times(uint32_t(at(id).shape[1]) / heads_->queries.total)};
    };
    return cuts == of(node.inputs[0]) && pull(node.inputs[0], of(node.inputs[0])) &&
           pull(node.inputs[1], of(node.inputs[1]));
  }
  bool pull(const HeadLinear& op, const Node& node, const RankCuts& cuts) {
    const auto width = [&](ValueId id) { return uint32_t(at(id).shape[1]) / op.heads; };
    if (!heads_ || op.heads != heads_->queries.total ||
        cuts != RankCuts{heads_->queries.times(width(node.outputs[0]))}) {
      return false;
    }
    own_.ops[index_of(node)] =
        HeadLinear{.heads = heads_->queries.each, .transposed = op.transposed};
    const uint32_t rows = uint32_t(at(node.inputs[1]).shape[0]) / op.heads;
    return pull_rows(node.inputs[1], {heads_->queries.times(rows)}, 1) &&
           pull(node.inputs[0], {heads_->queries.times(width(node.inputs[0]))});
  }
  bool pull(const GatedDelta& op, const Node& node, const RankCuts& cuts) {
    const TensorDesc& state = at(node.inputs[3]);
    const auto keys = uint32_t(state.shape[1]), values = uint32_t(state.shape[2]);
    const uint32_t heads = uint32_t(state.shape[0]);
    const bool is_exact =
        at(node.inputs[0]).shape[1] == Dim{2} * Dim{op.key_heads * keys} + Dim{heads * values} &&
        at(node.inputs[1]).shape[1] == Dim{2} * Dim{heads};
    if (!heads_ || own_.has_attention || !is_exact ||
        cuts != RankCuts{heads_->queries.times(values)} ||
        !std::holds_alternative<Weight>(at(node.inputs[2]).recipe)) {
      return false;
    }
    cut_recurrence(node);
    GatedDelta own = op;
    own.key_heads = heads_->keys.each;
    own_.ops[index_of(node)] = own;
    const RankCut key = heads_->keys.times(keys);
    return pull(node.inputs[0], {key, key, heads_->queries.times(values)}) &&
           pull(node.inputs[1], {heads_->queries, heads_->queries});
  }
  bool pull(const SelectiveScan& op, const Node& node, const RankCuts& cuts) {
    const TensorDesc& state = at(node.inputs[3]);
    const auto heads = state.shape[0], states = state.shape[1], width = state.shape[2];
    const bool is_exact =
        at(node.inputs[0]).shape[1] == heads * width + Dim{2} * Dim{op.groups} * states &&
        at(node.inputs[1]).shape[1] == heads;
    if (!heads_ || own_.has_attention || !is_exact ||
        cuts != RankCuts{heads_->queries.times(uint32_t(width))} ||
        !std::holds_alternative<Weight>(at(node.inputs[2]).recipe)) {
      return false;
    }
    cut_recurrence(node);
    SelectiveScan own = op;
    own.groups = heads_->keys.each;
    own_.ops[index_of(node)] = own;
    const RankCut group = heads_->keys.times(uint32_t(states));
    return pull(node.inputs[0], {cuts.front(), group, group}) &&
           pull(node.inputs[1], {heads_->queries});
  }
  /// The heads of a recurrence's parameters and state.
  void cut_recurrence(const Node& node) {
    own_.has_attention = true;
    own_.elements[node.inputs[2]] = heads_->queries;
    own_.matrices[node.inputs[3]] = own_.matrices[node.outputs[1]] = heads_->queries;
  }
  bool pull(const Standardize&, const Node& node, const RankCuts& cuts) {
    return pull(node.inputs[0], cuts) && pull_rows(node.inputs[1], cuts, 1) &&
           pull_rows(node.inputs[2], cuts, 1);
  }
  bool pull(const ShortConv& op, const Node& node, const RankCuts& cuts) {
    own_.columns[node.inputs[2]] = own_.columns[node.outputs[1]] = cuts;
    RankCuts read = cuts;
    for (int more = 0; op.gated && more < 2; ++more) {
      read.insert(read.end(), cuts.begin(), cuts.end());
    }
    return pull(node.inputs[0], read) && pull_rows(node.inputs[1], cuts, 1) &&
           (node.inputs.size() < 4 || pull_rows(node.inputs[3], cuts, 1));
  }

  size_t index_of(const Node& node) const { return size_t(&node - graph_.nodes.data()); }

  static bool has_whole(const RankCuts& cuts, uint32_t width) {
    return std::ranges::all_of(cuts, [&](const RankCut& cut) {
      return cut.each % width == 0 && cut.group % width == 0 && cut.step % width == 0;
    });
  }

  bool pull_cache(ValueId id, const RankCut& cut, uint32_t width) {
    own_.heads[id] = cut;
    const auto maker = index_.maker_index(id);
    if (!maker) return true;
    const Node& node = graph_.nodes[*maker];
    if (!std::holds_alternative<KvAppend>(node.op)) return false;
    own_.nodes.insert(*maker);
    return pull(node.inputs[0], {cut.times(width)}) && pull(node.inputs[1], {cut.times(width)}) &&
           pull_cache(node.inputs[2], cut, width);
  }

  bool pull_rows(ValueId id, const RankCuts& cuts, uint32_t experts) {
    const TensorDesc& constant = at(id);
    if (constant.storage != Storage::kConstant || !can_cut_rows(constant, cuts, experts)) {
      return false;
    }
    const auto [place, is_new] = own_.rows.emplace(id, cuts);
    if (experts > 1) own_.experts[id] = experts;
    return is_new || place->second == cuts;
  }

  /// Whether nobody but the root and what is cut reads it. Fills have no such readers: each has its
  /// own.
  bool is_closed() const {
    const auto is_within = [&](ValueId id) {
      return std::holds_alternative<Fill>(at(id).recipe) ||
             (id != graph_.result && std::ranges::all_of(index_.users(id), [&](size_t user) {
                return user == root_ || own_.nodes.contains(user);
              }));
    };
    const auto all = [&](const auto& values) {
      return std::ranges::all_of(values, [&](const auto& one) { return is_within(one.first); });
    };
    return std::ranges::all_of(own_.adapters, is_within) && all(own_.columns) && all(own_.rows) &&
           all(own_.heads) && all(own_.elements) && all(own_.matrices) &&
           own_.has_attention == heads_.has_value();
  }

  const Graph& graph_;
  const GraphIndex& index_;
  size_t root_;
  uint32_t ranks_;
  ShardRegion own_;
  std::optional<HeadCut> heads_;
};

/// Columns that kernels like to have in one piece, where there are many of them and where not.
constexpr uint32_t kManyColumns = 512, kNiceColumns = 64, kMinColumns = 8;

}  // namespace

GraphIndex::GraphIndex(const Graph& graph)
    : graph_(graph), maker_(graph.values.size()), users_(graph.values.size()) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId id : graph.nodes[i].outputs) maker_[uint32_t(id)] = i;
    for (const ValueId id : graph.nodes[i].inputs) users_[uint32_t(id)].push_back(i);
  }
}

const Node* GraphIndex::maker(ValueId id) const {
  const auto index = maker_index(id);
  return index ? &graph_.nodes[*index] : nullptr;
}

std::optional<size_t> GraphIndex::maker_index(ValueId id) const {
  return maker_[uint32_t(id)];
}

RankCut even_cut(uint32_t total, uint32_t ranks, uint32_t unit) {
  const uint32_t nice = total / ranks >= kManyColumns ? kNiceColumns : kMinColumns;
  const uint32_t each = round_up(ceil_div(total, ranks), std::lcm(unit, nice));
  return {.each = each, .group = each, .total = total};
}

std::optional<ShardRegion> find_region(const Graph& graph, const GraphIndex& index, size_t root,
                                       uint32_t ranks) {
  return Finder(graph, index, root, ranks).run();
}

}  // namespace tokamak
