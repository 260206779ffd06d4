#include "graph/builder.h"

#include "graph/kv_cache.h"

namespace tokamak {

ValueId GraphBuilder::declare(TensorDesc value) {
  graph_.values.push_back(std::move(value));
  return ValueId(graph_.values.size() - 1);
}

ValueId GraphBuilder::input(std::string name, Shape shape, uint32_t window) {
  return declare({std::move(name), std::move(shape), DType::kU32, Storage::kInput, {}, window});
}

ValueId GraphBuilder::row_input(std::string name, uint32_t columns) {
  return declare({std::move(name), {kTokens, columns}, DType::kF32, Storage::kInput, {}, 0});
}

ValueId GraphBuilder::host_rows(std::string name, uint32_t rows, uint32_t columns) {
  return declare({std::move(name), {rows, columns}, DType::kF32, Storage::kInput, {}, 0});
}

ValueId GraphBuilder::constant(std::string name, Shape shape, DType dtype, Recipe recipe) {
  return declare(
      {std::move(name), std::move(shape), dtype, Storage::kConstant, std::move(recipe), 0});
}

ValueId GraphBuilder::state(std::string name, Shape shape, DType dtype, StateSpec spec,
                            uint32_t window) {
  return declare(
      {std::move(name), std::move(shape), dtype, Storage::kState, {}, window, std::move(spec)});
}

ValueId GraphBuilder::kv_cache(std::string name, DType dtype, Dim cells, Dim kv_heads, Dim head_dim,
                               uint32_t window) {
  return state(std::move(name), cache_shape(dtype, cells, kv_heads, head_dim), dtype,
               kv_cache_spec(kv_heads, head_dim, window), window);
}

ValueId GraphBuilder::latent_cache(std::string name, DType dtype, Dim cells, Dim rank, Dim turned) {
  return state(std::move(name), {cells, rank + turned}, dtype, latent_cache_spec(rank, turned), 0);
}

ValueId GraphBuilder::recurrent(std::string name, Shape shape) {
  return state(std::move(name), std::move(shape), DType::kF32, {StateKind::kRecurrent}, 0);
}

ValueId GraphBuilder::sampled(std::string name, Shape shape, DType dtype) {
  return state(std::move(name), std::move(shape), dtype, {StateKind::kSampled}, 0);
}

ValueId GraphBuilder::linear(ValueId x, ValueId w, std::optional<ValueId> bias) {
  return bias ? one(Linear{}, {x, w, *bias}) : one(Linear{}, {x, w});
}

ValueId GraphBuilder::layer_norm(ValueId x, ValueId w, float eps, std::optional<ValueId> bias) {
  return bias ? one(LayerNorm{eps}, {x, w, *bias}) : one(LayerNorm{eps}, {x, w});
}

ValueId GraphBuilder::attention(ValueId q, ValueId cache, ValueId pages, Attention attributes,
                                std::optional<ValueId> bias) {
  return bias ? one(attributes, {q, cache, pages, *bias}) : one(attributes, {q, cache, pages});
}

ValueId GraphBuilder::short_conv(ValueId x, ValueId w, ValueId state, Activation activation,
                                 std::optional<ValueId> bias) {
  std::vector<ValueId> inputs = {x, w, state};
  if (bias) inputs.push_back(*bias);
  return one(ShortConv{activation}, std::move(inputs));
}

GraphBuilder::Routed GraphBuilder::route(ValueId logits, const Route& attributes,
                                         std::optional<ValueId> scale,
                                         std::optional<ValueId> bias) {
  std::vector<ValueId> inputs = {logits};
  if (bias) inputs.push_back(*bias);
  if (scale) inputs.push_back(*scale);
  const std::vector<ValueId> outputs = add_node(attributes, std::move(inputs));
  return {outputs[0], outputs[1]};
}

std::vector<ValueId> GraphBuilder::add_node(const Op& op, std::vector<ValueId> inputs) {
  auto outputs = infer_outputs(graph_, op, inputs);
  if (!outputs) {
    reject(std::move(outputs).error());
    // A value of the first operand's kind keeps the builder going; finish() reports the mistake.
    outputs = std::vector<TensorDesc>(3, graph_.at(inputs.front()));
  }
  Node node{op, std::move(inputs), {}};
  for (TensorDesc& output : *outputs) node.outputs.push_back(declare(std::move(output)));
  graph_.nodes.push_back(node);
  return node.outputs;
}

void GraphBuilder::reject(Error error) {
  if (!error_) error_ = std::move(error);
}

Result<Graph> GraphBuilder::finish(ValueId result) {
  Graph graph = std::move(graph_);
  graph_ = {};
  if (error_) return Failure(*std::move(error_));
  graph.result = result;
  remove_unused(graph);
  TOK_TRY(verify(graph));
  return graph;
}

}  // namespace tokamak
