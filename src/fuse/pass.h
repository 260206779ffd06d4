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

#include "graph/graph.h"

namespace tokamak::fuse {

using Var = uint32_t;

struct Pattern {
  Var var = 0;
  std::optional<size_t> op;     // none: any value
  std::vector<Pattern> inputs;  // of a node; the number must agree
};

inline Pattern any(Var var) {
  return {var, std::nullopt, {}};
}

template <typename T>
Pattern node(Var output, std::vector<Pattern> inputs) {
  return {output, op_index<T>(), std::move(inputs)};
}

class Match {
 public:
  explicit Match(Graph& graph) : graph_(graph) {}

  bool has(Var var) const { return values_.contains(var); }
  ValueId operator[](Var var) const { return values_.at(var); }
  const TensorDesc& type(Var var) const { return graph_.at(values_.at(var)); }

  /// Attributes of the node captured as `var`.
  template <typename T>
  const T& attributes(Var var) const {
    return std::get<T>(graph_.nodes[nodes_.at(var)].op);
  }

  /// A new constant whose rows are those of the captured constants; nothing when they do not go
  /// together (other types, already put together, used elsewhere too). `suffix` names it.
  std::optional<ValueId> join_rows(std::initializer_list<Var> parts, RowOrder order,
                                   std::string_view suffix);

 private:
  friend class Driver;
  Graph& graph_;
  std::map<Var, ValueId> values_;
  std::map<Var, size_t> nodes_;  // captures that are nodes -> index
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
  /// Nothing: the pass declines this match.
  std::optional<Replacement> (*replace)(Match&) = nullptr;
};

/// Applies `pass` wherever it matches, until it does not. Returns the number of replacements. The
/// graph stays valid.
uint32_t run(const Pass& pass, Graph& graph);

}  // namespace tokamak::fuse
