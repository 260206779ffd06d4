// Fusion passes: a pattern and a replacement each, one file each, applied by one driver.
//
// A pattern is one or more trees of nodes. Captures are numbered by a local enum of the pass:
// any(x) matches every value, node(y, ...) the node that makes y; a capture met twice must be the
// same value. Several trees match sibling nodes, in the order of the graph.
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuse/target.h"
#include "graph/graph.h"

namespace tokamak::fuse {

/// Which steps a graph is for, from all of them to the fewest.
enum class Steps : uint8_t {
  kMany,    // of any number of tokens
  kShort,   // of at most kShortStep tokens
  kDecode,  // of one token of each of several sequences
  kOne,     // of one token
};

/// Tokens up to which the workgroups of a product have some rows of the matrix for all tokens.
inline constexpr uint32_t kShortStep = 64;

using Var = uint32_t;

struct Pattern {
  Var var = 0;
  std::optional<size_t> op;      // none: any value
  std::vector<Pattern> inputs;   // of a node; the number must agree
  std::vector<Var> others = {};  // its outputs after the first
};

inline Pattern any(Var var) {
  return {var, std::nullopt, {}};
}

template <typename T>
Pattern node(Var output, std::vector<Pattern> inputs, std::vector<Var> other_outputs = {}) {
  return {output, op_index<T>(), std::move(inputs), std::move(other_outputs)};
}

/// Whether the kernels of fused_linear read the rows of such a matrix.
bool fits_fused_linear(const TensorDesc& matrix);

/// Whether all of a constant is 1: the weight of a norm that has none.
bool is_ones(const TensorDesc& weight);

class Match {
 public:
  Match(Graph& graph, const Target& target) : graph_(graph), target_(target) {}

  const Target& target() const { return target_; }

  bool has(Var var) const { return values_.contains(var); }
  ValueId operator[](Var var) const { return values_.at(var); }
  const TensorDesc& type(Var var) const { return graph_.at(values_.at(var)); }
  const TensorDesc& at(ValueId id) const { return graph_.at(id); }

  /// Whether these operands may be those of the op.
  bool is_accepted(const Op& op, const std::vector<ValueId>& inputs) const;

  /// Attributes of the node captured as `var`.
  template <typename T>
  const T& attributes(Var var) const {
    return std::get<T>(graph_.nodes[nodes_.at(var)].op);
  }

  /// The attributes of a captured node if it is a T.
  template <typename T>
  const T* as(Var var) const {
    return std::get_if<T>(&graph_.nodes[nodes_.at(var)].op);
  }

  /// Operands of the node captured as `var`.
  const std::vector<ValueId>& inputs(Var var) const { return graph_.nodes[nodes_.at(var)].inputs; }

  /// How often nodes read a captured value.
  size_t uses(Var var) const;

  /// Whether nodes read a captured value only as `takes` allows, and it is not the graph's result.
  bool is_only_read_as(Var var, bool (*takes)(const Node& reader, size_t operand)) const;

  ValueId add_constant(TensorDesc constant);

  /// The node that makes all of these captures, as its outputs in this order, and nothing else.
  const Node* maker(std::initializer_list<Var> outputs) const;

  /// The node that makes a captured value as the first of its outputs; null for others.
  const Node* maker_of(Var var) const;
  /// Gives that node an op with one output more, which is returned. REQUIRES: there is such a node;
  /// it keeps the op even when the match is declined.
  ValueId extend_maker(Var var, const Op& op);

  /// A node in front of the replacement. Its outputs are new values, but where `made` names
  /// captures that the match shall keep.
  std::vector<ValueId> add_node(const Op& op, std::vector<ValueId> inputs,
                                std::map<size_t, Var> made = {});

  /// A new constant whose rows are those of the captured constants; nothing when they do not go
  /// together (already put together, used elsewhere too, rows that alternate of other types).
  /// Matrices of several types become one whose parts say what they are. `suffix` names it.
  std::optional<ValueId> join_rows(std::initializer_list<Var> parts, RowOrder order,
                                   std::string_view suffix);

 private:
  friend class Driver;
  Graph& graph_;
  Target target_;
  std::map<Var, ValueId> values_;
  std::map<Var, size_t> nodes_;  // captures that are nodes -> index
  std::vector<Node> added_;
};

struct Replacement {
  Op op;
  std::vector<ValueId> inputs;
};

struct Pass {
  std::string_view name;
  /// Alternatives, tried in order; each is one or more trees.
  std::vector<std::vector<Pattern>> patterns;
  /// Captures that survive, in the order of the new node's outputs. A match in which any other
  /// captured node's value has a user outside the match is refused by the driver.
  std::vector<Var> outputs;
  /// Captured nodes that stay when they have other users: each of those may fold them in, too.
  std::vector<Var> shared = {};
  /// The most steps that it is for, and the fewest.
  Steps steps = Steps::kMany, fewest = Steps::kOne;
  /// Nothing: the pass declines this match.
  std::optional<Replacement> (*replace)(Match&) = nullptr;
};

/// Applies `pass` wherever it matches, until it does not. Returns the number of replacements. The
/// graph stays valid.
uint32_t run(const Pass& pass, Graph& graph, const Target& target = {});

}  // namespace tokamak::fuse
