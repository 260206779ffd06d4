#include "graph/graph.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "base/check.h"
#include "base/packing.h"

namespace tokamak {

uint64_t element_count(const Shape& shape, uint64_t tokens, uint64_t outputs) {
  uint64_t count = 1;
  for (const Dim dim : shape) {
    count *= dim == kTokens ? tokens : dim == kOutputs ? outputs : uint64_t(dim);
  }
  return count;
}

uint64_t byte_count(DType dtype, const Shape& shape, uint64_t tokens, uint64_t outputs) {
  if (!is_packed(dtype)) return element_count(shape, tokens, outputs) * dtype_bytes(dtype);
  TOK_CHECK(shape.size() == 2);
  return matrix_bytes(dtype, uint64_t(shape[0]), uint64_t(shape[1]));
}

uint64_t byte_count(const TensorDesc& tensor, uint64_t tokens, uint64_t outputs) {
  return byte_count(tensor.dtype, tensor.shape, tokens, outputs);
}

std::optional<size_t> changed_state(const Graph& graph, const Node& node, size_t output) {
  const auto is_state = [&](ValueId id) { return graph.at(id).storage == Storage::kState; };
  if (!is_state(node.outputs[output])) return std::nullopt;
  const std::span before = std::span(node.outputs).first(output);
  auto state = std::ranges::find_if(node.inputs, is_state);
  for (auto left = std::ranges::count_if(before, is_state); left > 0; --left) {
    state = std::find_if(state + 1, node.inputs.end(), is_state);
  }
  return size_t(state - node.inputs.begin());
}

std::optional<size_t> added_to(const Op& op) {
  if (std::holds_alternative<LoraUp>(op)) return 0;
  const auto* down = std::get_if<GatedFfn>(&op);
  return down != nullptr ? std::optional(down->sums()) : std::nullopt;
}

std::vector<float> rope_table(const RopeTable& recipe, uint32_t rows, uint32_t first) {
  const size_t half = recipe.inverse_frequencies.size();
  std::vector<float> table(rows * 2 * half);
  for (uint32_t i = 0; i < rows; ++i) {
    const uint32_t row = first + i;
    float* cosines = table.data() + size_t(i) * 2 * half;
    const bool is_short = row < recipe.short_rows;
    const auto& frequencies = is_short ? recipe.short_frequencies : recipe.inverse_frequencies;
    const uint32_t position = is_short ? row : row - recipe.short_rows;
    for (size_t k = 0; k < half; ++k) {
      // The reference multiplies in f32; the rounding of the angle is part of its answer.
      const float angle = float(position) * frequencies[k];
      cosines[k] = float(std::cos(double(angle))) * recipe.factor;
      cosines[half + k] = float(std::sin(double(angle))) * recipe.factor;
    }
  }
  return table;
}

std::vector<float> slope_table(const Slopes& recipe, uint32_t rows, uint32_t count,
                               uint32_t first) {
  const uint32_t radius = rows / 2;
  std::vector<float> table;
  table.reserve(count * recipe.slopes.size());
  for (uint32_t row = first; row < first + count; ++row) {
    const float distance = float(row < radius ? radius - row : row - radius);
    for (const float slope : recipe.slopes) table.push_back(-slope * distance);
  }
  return table;
}

std::string type_text(const TensorDesc& tensor) {
  std::string text(dtype_name(tensor.dtype));
  text += '[';
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (i > 0) text += ',';
    text += tensor.shape[i] == kTokens    ? "T"
            : tensor.shape[i] == kOutputs ? "O"
                                          : fmt::format("{}", tensor.shape[i]);
  }
  return text + ']';
}

namespace {

/// Whether the types of parts are as WeightPart says.
bool has_sound_types(const TensorDesc& value) {
  const auto* weight = std::get_if<Weight>(&value.recipe);
  const auto typed = [](const WeightPart& part) { return part.dtype.has_value(); };
  if (weight == nullptr || std::ranges::none_of(weight->parts, typed)) return true;
  uint64_t rows = 0;
  for (const WeightPart& part : weight->parts) {
    if (!part.dtype || !is_matrix_dtype(*part.dtype) || part.rows == 0 || part.rows % 2 != 0 ||
        part.factor != 1) {
      return false;
    }
    rows += part.rows;
  }
  return weight->order == RowOrder::kConcat && !weight->add_one && value.dtype == DType::kF32 &&
         value.shape.size() == 2 && uint64_t(value.shape[0]) == rows;
}

/// A value that a node adds to is made for it alone; a row of fixed-point sums by a product.
Result<void> check_added_to(const Graph& graph, size_t n, size_t operand) {
  const ValueId sums = graph.nodes[n].inputs[operand];
  const bool is_row_of_sums = graph.at(sums).dtype == DType::kI32;
  const auto makes = [&](const Node& node) {
    if (!is_row_of_sums) return std::ranges::count(node.outputs, sums) != 0;
    const auto* fused = std::get_if<FusedLinear>(&node.op);
    return fused != nullptr && fused->clears && node.outputs.back() == sums;
  };
  if (std::ranges::none_of(graph.nodes, makes)) {
    return invalid_input("Graph: node {} adds to {}.", n,
                         is_row_of_sums ? "sums that no product clears" : "what no node makes");
  }
  size_t readers = 0;
  for (const Node& node : graph.nodes) readers += size_t(std::ranges::count(node.inputs, sums));
  if (readers == 1 && graph.result != sums) return {};
  return invalid_input("Graph: node {} adds to {} that something else reads, too.", n,
                       is_row_of_sums ? "sums" : "a value");
}

}  // namespace

Result<void> verify(const Graph& graph) {
  std::vector<bool> defined(graph.values.size()), changed(graph.values.size()), made(defined);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (uint32_t(id) < made.size()) made[uint32_t(id)] = true;
    }
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const TensorDesc& value = graph.values[i];
    defined[i] = !made[i] && value.storage != Storage::kActivation;
    if (value.storage == Storage::kConstant && value.recipe.index() == 0) {
      return invalid_input("Graph: constant \"{}\" has no recipe.", value.name);
    }
    if (value.storage == Storage::kState && !value.state) {
      return invalid_input(
          "Graph: state \"{}\" is of no kind; expected an op that takes it as its state.",
          value.name);
    }
    if (!has_sound_types(value)) {
      return invalid_input(
          "Graph: parts of \"{}\" have types of their own; expected a concat that "
          "is f32, of parts which all have a type and an even number of rows.",
          value.name);
    }
    for (const Dim dim : value.shape) {
      if (dim != kTokens && dim != kOutputs && dim <= 0) {
        return invalid_input("Graph: value {} has the size {}, expected a positive one.", i, dim);
      }
    }
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    for (const ValueId id : node.inputs) {
      if (uint32_t(id) >= graph.values.size() || !defined[uint32_t(id)]) {
        return invalid_input("Graph: node {} ({}) uses value {} before it is made.", n,
                             op_name(node.op), uint32_t(id));
      }
    }
    auto outputs = infer_outputs(graph, node.op, node.inputs);
    if (!outputs) return Failure(outputs.error().within(fmt::format("Graph: node {}", n)));
    if (outputs->size() != node.outputs.size()) {
      return invalid_input("Graph: node {} ({}) has {} outputs, expected {}.", n, op_name(node.op),
                           node.outputs.size(), outputs->size());
    }
    for (size_t i = 0; i < outputs->size(); ++i) {
      const ValueId id = node.outputs[i];
      if (uint32_t(id) >= graph.values.size() || defined[uint32_t(id)]) {
        return invalid_input("Graph: node {} ({}) makes value {}, which exists already.", n,
                             op_name(node.op), uint32_t(id));
      }
      defined[uint32_t(id)] = true;
      const TensorDesc& found = graph.at(id);
      const TensorDesc& expected = (*outputs)[i];
      if (found.shape != expected.shape || found.dtype != expected.dtype) {
        return invalid_input("Graph: node {} ({}) makes {}, but its result is declared as {}.", n,
                             op_name(node.op), type_text(expected), type_text(found));
      }
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const auto operand = changed_state(graph, node, i);
      if (!operand) continue;
      const uint32_t state = uint32_t(node.inputs[*operand]);
      if (changed[state]) {
        return invalid_input("Graph: node {} changes \"{}\" a second time.", n,
                             graph.values[state].name);
      }
      changed[state] = true;
    }
    if (const auto operand = added_to(node.op)) TOK_TRY(check_added_to(graph, n, *operand));
  }
  if (uint32_t(graph.result) >= graph.values.size() || !defined[uint32_t(graph.result)]) {
    return invalid_input("Graph: the result is not a value that a node makes.");
  }
  return {};
}

namespace {

/// Drops nodes whose outputs nothing uses; one that changes a state has a use.
void remove_idle_nodes(Graph& graph) {
  std::vector<bool> used(graph.values.size());
  used[uint32_t(graph.result)] = true;
  std::vector<Node> kept;
  for (Node& node : std::views::reverse(graph.nodes)) {
    const auto is_used = [&](ValueId id) {
      return used[uint32_t(id)] || graph.at(id).storage == Storage::kState;
    };
    if (std::ranges::none_of(node.outputs, is_used)) continue;
    for (const ValueId id : node.inputs) used[uint32_t(id)] = true;
    kept.push_back(std::move(node));
  }
  std::ranges::reverse(kept);
  graph.nodes = std::move(kept);
}

}  // namespace

void remove_unused(Graph& graph) {
  remove_idle_nodes(graph);
  std::vector<bool> used(graph.values.size());
  used[uint32_t(graph.result)] = true;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) used[uint32_t(id)] = true;
    for (const ValueId id : node.outputs) used[uint32_t(id)] = true;
  }
  std::vector<ValueId> renumbered(graph.values.size());
  std::vector<TensorDesc> kept;
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = ValueId(kept.size());
    kept.push_back(std::move(graph.values[i]));
  }
  graph.values = std::move(kept);
  for (Node& node : graph.nodes) {
    for (ValueId& id : node.inputs) id = renumbered[uint32_t(id)];
    for (ValueId& id : node.outputs) id = renumbered[uint32_t(id)];
  }
  graph.result = renumbered[uint32_t(graph.result)];
}

}  // namespace tokamak
