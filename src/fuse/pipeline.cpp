#include "fuse/pipeline.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "fuse/library/library_passes.h"
#include "fuse/passes.h"

namespace tokamak::fuse {

std::span<const Pass> passes() {
  // The order: the narrower pattern comes first, gated_conv before gate_up, gate_up before qkv,
  // linear_gate before gate_linear, step_attention before rope_append. step_attention and
  // conv_linear need the qkv, delta_row and the gates the columns that those leave, split_attention
  // the product after attention with its gate, and the norms the products as they end. Sums and
  // norms that are left over go to norm_add, add_rms_norm and add_layer_norm. glu_columns comes
  // after all that take a glu, since they know none with columns of a row; add_rms_norm adds up
  // what split_linear leaves. At the end are those around the products of a library, which round
  // what stands there by then.
  static const std::vector<Pass> all = [] {
    std::vector<Pass> made = {scale_embed(),     scale_route(),  gated_conv(),
                              gate_up(),         qkv(),          qk(),
                              expert_glu(),      conv_linear(),  delta_row(),
                              step_attention(),  rope_append(),  linear_gate(),
                              gate_linear(),     glu_columns(),  head_norm(),
                              split_attention(), expert_mix(),   residual(),
                              norm_linear(),     norm_experts(), head_argmax(),
                              norm_add_norm(),   snake_conv(),   conv_add(),
                              gated_ffn(),       norm_add(),     add_rms_norm(),
                              add_layer_norm(),  split_linear(), split_latents(),
                              batch_latents()};
    std::ranges::move(library_passes(), std::back_inserter(made));
    return made;
  }();
  return all;
}

Result<std::vector<uint32_t>> run_pipeline(Graph& graph, Steps steps,
                                           const DisabledPasses& disabled, const Target& target) {
  for (const std::string& name : disabled) {
    bool known = false;
    std::string names;
    for (const Pass& pass : passes()) {
      known = known || pass.name == name;
      names += (names.empty() ? "" : ", ") + std::string(pass.name);
    }
    if (!known) {
      return fail(ErrorCode::kUsage, "There is no fusion pass \"{}\"; the passes are {}.", name,
                  names);
    }
  }
  std::vector<uint32_t> counts;
  for (const Pass& pass : passes()) {
    const bool runs = !disabled.contains(pass.name) && pass.steps <= steps && steps <= pass.fewest;
    counts.push_back(runs ? run(pass, graph, target) : 0);
  }
  return counts;
}

Graph for_one_token(Graph graph) {
  std::vector<Node> kept;
  std::map<ValueId, ValueId> renamed;
  const auto name = [&](ValueId& id) {
    if (const auto found = renamed.find(id); found != renamed.end()) id = found->second;
  };
  for (Node& node : graph.nodes) {
    for (ValueId& id : node.inputs) name(id);
    if (std::holds_alternative<LastRow>(node.op)) {
      renamed[node.outputs[0]] = node.inputs[0];
      continue;
    }
    // The later nodes have T rows, too, instead of one.
    const auto outputs = infer_outputs(graph, node.op, node.inputs);
    TOK_CHECK(outputs.has_value());
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      graph.at(node.outputs[i]).shape = (*outputs)[i].shape;
    }
    kept.push_back(std::move(node));
  }
  name(graph.result);
  graph.nodes = std::move(kept);
  remove_unused(graph);
  return graph;
}

namespace {

ValueId add_value(Graph& graph, TensorDesc value) {
  graph.values.push_back(std::move(value));
  return ValueId(graph.values.size() - 1);
}

/// Gives the node's first output. REQUIRES: the op takes these operands.
ValueId add_node(Graph& graph, const Op& op, std::vector<ValueId> inputs) {
  auto outputs = infer_outputs(graph, op, inputs);
  TOK_CHECK(outputs.has_value() && !outputs->empty());
  Node node{op, std::move(inputs), {}};
  for (TensorDesc& output : *outputs) node.outputs.push_back(add_value(graph, std::move(output)));
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().outputs.front();
}

const StateSpec kSampledState = {StateKind::kSampled};

/// A bit for every token of the vocabulary, for each sequence.
ValueId add_token_set(Graph& graph, const char* name, int64_t vocab) {
  return add_value(graph, {.name = name,
                           .shape = {token_words(vocab)},
                           .dtype = DType::kU32,
                           .storage = Storage::kState,
                           .state = kSampledState});
}

}  // namespace

Graph with_argmax(Graph graph) {
  const ValueId ids = add_value(graph, {.name = "chosen",
                                        .shape = {Dim{kChosenIds}},
                                        .dtype = DType::kF32,
                                        .storage = Storage::kState,
                                        .state = kSampledState});
  const ValueId candidates = add_node(graph, BlockArgmax{}, {graph.result});
  graph.result = add_node(graph, NextToken{}, {candidates, ids});
  return graph;
}

Graph with_top_tokens(Graph graph) {
  const ValueId logits = graph.result;
  const ValueId allowed = add_token_set(graph, "allowed", graph.at(logits).shape[1]);
  const ValueId maxima = add_node(graph, BlockMaxima{}, {logits, allowed});
  const ValueId blocks = add_node(graph, TopKBlocks{}, {maxima});
  graph.result = add_node(graph, TopKTokens{}, {logits, maxima, blocks, allowed});
  return graph;
}

Graph with_list(Graph graph) {
  const auto vocab = graph.at(graph.result).shape[1];
  graph = with_top_tokens(std::move(graph));
  const ValueId list = graph.result;
  const ValueId lists =
      add_value(graph, {.name = "drawn",
                        .shape = {Dim{kSampledLists}, graph.at(list).shape[1] + 1},
                        .dtype = DType::kF32,
                        .storage = Storage::kState,
                        .state = kSampledState});
  const ValueId occurred = add_token_set(graph, "occurred", vocab);
  graph.result = add_node(graph, SampleToken{}, {list, lists, occurred});
  return graph;
}

}  // namespace tokamak::fuse
