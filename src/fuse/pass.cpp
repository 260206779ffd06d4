#include "fuse/pass.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace tokamak::fuse {

bool fits_fused_linear(const TensorDesc& matrix) {
  return matrix.shape[1] % kColumnsAtOnce == 0;
}

bool is_ones(const TensorDesc& weight) {
  const auto* fill = std::get_if<Fill>(&weight.recipe);
  return fill != nullptr && fill->value == 1;
}

std::optional<ValueId> Match::join_rows(std::initializer_list<Var> parts, RowOrder order,
                                        std::string_view suffix) {
  Weight joined{.parts = {}, .order = order};
  TensorDesc result = type(*parts.begin());
  result.shape[0] = 0;
  const bool alike =
      std::ranges::all_of(parts, [&](Var part) { return type(part).dtype == result.dtype; });
  if (!alike && (order != RowOrder::kConcat || result.shape.size() != 2)) return std::nullopt;
  for (const Var part : parts) {
    const TensorDesc& one = type(part);
    const auto* weight = std::get_if<Weight>(&one.recipe);
    if (weight == nullptr || (!alike && weight->add_one) ||
        !std::equal(one.shape.begin() + 1, one.shape.end(), result.shape.begin() + 1,
                    result.shape.end())) {
      return std::nullopt;
    }
    if (joined.parts.empty()) joined.add_one = weight->add_one;
    if (joined.add_one != weight->add_one) return std::nullopt;
    // Rows of several parts one after another stay so; parts that alternate must be single.
    const bool is_list = weight->order == RowOrder::kConcat && order == RowOrder::kConcat;
    if (!is_list && (weight->order != RowOrder::kPlain || weight->parts.size() != 1)) {
      return std::nullopt;
    }
    if (uses(part) != 1) return std::nullopt;
    const size_t before = joined.parts.size();
    joined.parts.insert(joined.parts.end(), weight->parts.begin(), weight->parts.end());
    // Rows of a concat are found by counting; see graph/row_range.h.
    if (order == RowOrder::kConcat && !is_list) joined.parts.back().rows = uint32_t(one.shape[0]);
    for (size_t i = before; i < joined.parts.size() && !alike; ++i) {
      WeightPart& own = joined.parts[i];
      if (own.dtype || own.rows == 0 || own.rows % 2 != 0) return std::nullopt;
      own.dtype = one.dtype;
    }
    result.shape[0] += one.shape[0];
  }
  if (!alike) result.dtype = DType::kF32;
  if (order == RowOrder::kInterleave &&
      result.shape[0] != type(*parts.begin()).shape[0] * Dim(parts.size())) {
    return std::nullopt;
  }
  result.name = fmt::format("{}.{}", type(*parts.begin()).name, suffix);
  result.recipe = std::move(joined);
  return add_constant(std::move(result));
}

size_t Match::uses(Var var) const {
  size_t count = 0;
  for (const Node& node : graph_.nodes) {
    count += size_t(std::ranges::count(node.inputs, values_.at(var)));
  }
  return count;
}

bool Match::is_only_read_as(Var var, bool (*takes)(const Node&, size_t)) const {
  const ValueId id = values_.at(var);
  if (graph_.result == id) return false;
  for (const Node& node : graph_.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == id && !takes(node, i)) return false;
    }
  }
  return true;
}

const Node* Match::maker_of(Var var) const {
  const auto makes = [&](const Node& node) { return node.outputs[0] == values_.at(var); };
  const auto found = std::ranges::find_if(graph_.nodes, makes);
  return found == graph_.nodes.end() ? nullptr : &*found;
}

ValueId Match::extend_maker(Var var, const Op& op) {
  const Node* maker = maker_of(var);
  TOK_CHECK(maker != nullptr);
  Node& node = graph_.nodes[size_t(maker - graph_.nodes.data())];
  auto outputs = infer_outputs(graph_, op, node.inputs);
  TOK_CHECK(outputs.has_value() && outputs->size() == node.outputs.size() + 1);
  node.op = op;
  graph_.values.push_back(std::move(outputs->back()));
  node.outputs.push_back(ValueId(graph_.values.size() - 1));
  return node.outputs.back();
}

bool Match::is_accepted(const Op& op, const std::vector<ValueId>& inputs) const {
  return infer_outputs(graph_, op, inputs).has_value();
}

ValueId Match::add_constant(TensorDesc constant) {
  graph_.values.push_back(std::move(constant));
  return ValueId(graph_.values.size() - 1);
}

const Node* Match::maker(std::initializer_list<Var> outputs) const {
  std::vector<ValueId> ids;
  for (const Var var : outputs) ids.push_back(values_.at(var));
  const auto found = std::ranges::find(graph_.nodes, ids, &Node::outputs);
  return found == graph_.nodes.end() ? nullptr : &*found;
}

std::vector<ValueId> Match::add_node(const Op& op, std::vector<ValueId> inputs,
                                     std::map<size_t, Var> made) {
  auto outputs = infer_outputs(graph_, op, inputs);
  TOK_CHECK(outputs.has_value());
  Node node{op, std::move(inputs), {}};
  for (size_t i = 0; i < outputs->size(); ++i) {
    if (const auto kept = made.find(i); kept != made.end()) {
      node.outputs.push_back(values_.at(kept->second));
    } else {
      graph_.values.push_back(std::move((*outputs)[i]));
      node.outputs.push_back(ValueId(graph_.values.size() - 1));
    }
  }
  added_.push_back(std::move(node));
  return added_.back().outputs;
}

class Driver {
 public:
  Driver(const Pass& pass, Graph& graph, const Target& target)
      : pass_(pass), graph_(graph), target_(target) {
    index();
  }

  uint32_t run() {
    uint32_t count = 0, before = 0;
    do {  // a replacement can make an earlier match possible
      before = count;
      for (size_t n = 0; n < graph_.nodes.size();) {
        if (apply_at(n)) {
          ++count;
          index();
        } else {
          ++n;
        }
      }
    } while (count > before);
    remove_unused(graph_);  // also what a declined match had made
    return count;
  }

 private:
  void index() {
    maker_.assign(graph_.values.size(), std::nullopt);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (const ValueId id : graph_.nodes[n].outputs) maker_[uint32_t(id)] = n;
    }
  }

  bool bind(Match& match, Var var, ValueId id) const {
    const auto [entry, is_new] = match.values_.try_emplace(var, id);
    return is_new || entry->second == id;
  }

  bool may_match(const Pattern& pattern, const Node& node) const {
    return node.op.index() == *pattern.op && node.inputs.size() == pattern.inputs.size();
  }

  bool matches_node(const Pattern& pattern, size_t n, Match& match) const {
    const Node& node = graph_.nodes[n];
    if (!may_match(pattern, node)) return false;
    if (!bind(match, pattern.var, node.outputs[0])) return false;
    for (size_t i = 0; i < pattern.others.size(); ++i) {
      if (1 + i >= node.outputs.size() || !bind(match, pattern.others[i], node.outputs[1 + i])) {
        return false;
      }
    }
    match.nodes_[pattern.var] = n;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!matches_value(pattern.inputs[i], node.inputs[i], match)) return false;
    }
    return true;
  }

  bool matches_value(const Pattern& pattern, ValueId id, Match& match) const {
    if (!pattern.op) return bind(match, pattern.var, id);
    const auto maker = maker_[uint32_t(id)];
    return maker && graph_.nodes[*maker].outputs[0] == id && matches_node(pattern, *maker, match);
  }

  /// Matches trees[tree...] at nodes from `first` on.
  std::optional<Match> match_trees(const std::vector<Pattern>& trees, size_t tree, size_t first,
                                   const Match& so_far) const {
    if (tree == trees.size()) return so_far;
    const size_t end = tree == 0 ? first + 1 : graph_.nodes.size();
    for (size_t n = first; n < end; ++n) {
      // Before what is bound so far is copied.
      if (!may_match(trees[tree], graph_.nodes[n])) continue;
      Match attempt = so_far;
      if (!matches_node(trees[tree], n, attempt)) continue;
      if (auto whole = match_trees(trees, tree + 1, n + 1, attempt)) return whole;
    }
    return std::nullopt;
  }

  /// The captures that survive this match; another alternative may have more of them.
  std::vector<Var> surviving(const Match& match) const {
    std::vector<Var> vars;
    for (const Var out : pass_.outputs) {
      if (match.has(out)) vars.push_back(out);
    }
    return vars;
  }

  /// The place of the new node: after its inputs, before the users of the values that survive.
  std::optional<size_t> position(const Match& match, const std::set<size_t>& matched,
                                 const Replacement& replacement) const {
    size_t low = 0, high = *matched.rbegin();
    bool reads_matched = false;  // any(v) may be what a captured node makes: add y, y
    const auto check_after = [&](const std::vector<ValueId>& inputs) {
      for (const ValueId id : inputs) {
        if (uint32_t(id) < maker_.size() && maker_[uint32_t(id)]) {
          low = std::max(low, *maker_[uint32_t(id)] + 1);
          reads_matched = reads_matched || matched.contains(*maker_[uint32_t(id)]);
        }
      }
    };
    check_after(replacement.inputs);
    for (const Node& node : match.added_) check_after(node.inputs);
    const std::vector<Var> outputs = surviving(match);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (matched.contains(n)) continue;
      for (const Var out : outputs) {
        if (std::count(graph_.nodes[n].inputs.begin(), graph_.nodes[n].inputs.end(), match[out])) {
          high = std::min(high, n);
        }
      }
    }
    return low <= high && !reads_matched ? std::optional(high) : std::nullopt;
  }

  /// A captured node's value that does not survive must have no user outside the match.
  bool only_outputs_escape(const Match& match, const std::set<size_t>& matched) const {
    std::set<ValueId> escaping, surviving;
    for (const Var out : this->surviving(match)) surviving.insert(match[out]);
    for (const size_t n : matched) {
      for (const ValueId id : graph_.nodes[n].outputs) {
        if (!surviving.contains(id)) escaping.insert(id);
      }
    }
    if (escaping.contains(graph_.result)) return false;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (matched.contains(n)) continue;
      for (const ValueId id : graph_.nodes[n].inputs) {
        if (escaping.contains(id)) return false;
      }
    }
    return true;
  }

  bool apply_at(size_t n) {
    for (const std::vector<Pattern>& trees : pass_.patterns) {
      auto match = match_trees(trees, 0, n, Match(graph_, target_));
      if (!match) continue;
      std::set<size_t> matched;
      for (const auto& [var, index] : match->nodes_) matched.insert(index);
      if (matched.size() != match->nodes_.size()) continue;
      // A shared node is no longer needed when its last user has folded it in; see
      // remove_unused().
      for (const Var var : pass_.shared) {
        if (const auto node = match->nodes_.find(var); node != match->nodes_.end()) {
          matched.erase(node->second);
        }
      }
      if (!only_outputs_escape(*match, matched)) continue;
      auto replacement = pass_.replace(*match);
      if (!replacement) continue;
      const auto at = position(*match, matched, *replacement);
      if (!at) continue;
      replace(*match, matched, *std::move(replacement), *at);
      return true;
    }
    return false;
  }

  void replace(const Match& match, const std::set<size_t>& matched, Replacement replacement,
               size_t at) {
    Node node{replacement.op, std::move(replacement.inputs), {}};
    for (const Var out : surviving(match)) {
      const auto makes = [&](const Node& added) {
        return std::ranges::count(added.outputs, match[out]) > 0;
      };
      if (std::ranges::none_of(match.added_, makes)) node.outputs.push_back(match[out]);
    }
    // A surviving value may be of another type from here on.
    const auto made = infer_outputs(graph_, node.op, node.inputs);
    TOK_CHECK(made.has_value() && made->size() == node.outputs.size());
    for (size_t i = 0; i < made->size(); ++i) {
      graph_.at(node.outputs[i]).shape = (*made)[i].shape;
      graph_.at(node.outputs[i]).dtype = (*made)[i].dtype;
    }
    std::vector<Node> nodes;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (n == at) {
        nodes.insert(nodes.end(), match.added_.begin(), match.added_.end());
        nodes.push_back(node);
      }
      if (!matched.contains(n)) nodes.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(nodes);
  }

  const Pass& pass_;
  Graph& graph_;
  const Target& target_;
  std::vector<std::optional<size_t>> maker_;
};

uint32_t run(const Pass& pass, Graph& graph, const Target& target) {
  const uint32_t count = Driver(pass, graph, target).run();
  const auto status = verify(graph);
  TOK_CHECK(status.has_value());
  return count;
}

}  // namespace tokamak::fuse
