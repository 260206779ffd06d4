#include "fuse/long_context.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "graph/kv_cache.h"

namespace tokamak::fuse {
namespace {

constexpr uint32_t kSplits = StepAttention::kLongContextSplits;
/// Longer heads, whose products have more columns to merge, were not measured.
constexpr Dim kHeadDim = 128;

bool gains(const Graph& graph, const Node& node, const Target& target) {
  const auto* op = std::get_if<StepAttention>(&node.op);
  // Without splits another node merges nothing.
  if (op == nullptr || op->splits == 1 || op->splits >= kSplits || op->window > 0) return false;
  const TensorDesc& cache = graph.at(node.inputs[2]);
  const uint32_t kv = uint32_t(cache.shape[2]);
  // With fewer workgroups than that each head for itself is faster. Heads come in powers of two.
  const uint32_t enough = std::bit_floor(std::max(target.multiprocessors, 1u));
  return op->heads > kv && kv * kSplits >= enough &&
         cached_head_dim(cache.dtype, cache.shape) <= kHeadDim;
}

}  // namespace

std::optional<Graph> for_long_context(Graph graph, const Target& target) {
  bool has_changed = false;
  for (Node& node : graph.nodes) {
    if (!gains(graph, node, target)) continue;
    const ValueId parts = node.outputs[0];
    std::get<StepAttention>(node.op).splits = kSplits;
    const auto outputs = infer_outputs(graph, node.op, node.inputs);
    TOK_CHECK(outputs.has_value());
    graph.at(parts).shape = outputs->front().shape;
    for (Node& user : graph.nodes) {
      if (user.inputs.empty() || user.inputs[0] != parts) continue;
      auto* merge = std::get_if<FusedLinear>(&user.op);
      TOK_CHECK(merge != nullptr && merge->prologue == Prologue::kMergeSplits);
      merge->splits = kSplits;
    }
    has_changed = true;
  }
  if (!has_changed) return std::nullopt;
  return graph;
}

}  // namespace tokamak::fuse
