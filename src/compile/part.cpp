#include "compile/part.h"

#include <algorithm>
#include <deque>

#include "base/background_task.h"
#include "fuse/long_context.h"

namespace tokamak {
namespace {

GraphKey key_of(const PhaseSpec& phase) {
  return {phase.graph, tail_of(phase.kind), phase.steps, phase.from_position > 0};
}

Result<void> shard_graphs(CompiledPart& part, uint32_t ranks) {
  std::vector<Graph> graphs;
  for (PartGraph& own : part.graphs) graphs.push_back(std::move(own.graph));
  TOK_TRY(graphs, shard_all(std::move(graphs), ranks, &part.cut));
  for (size_t i = 0; i < graphs.size(); ++i) part.graphs[i].graph = std::move(graphs[i]);
  return {};
}

/// Fuses every graph that a phase runs, at the same time: each takes some 8 ms of a model of 30
/// layers.
Result<void> fuse_graphs(CompiledPart& part, std::span<const PhaseSpec> phases,
                         const PartOptions& options) {
  part.fused_graphs[{}];
  for (const PhaseSpec& phase : phases) {
    GraphKey key = key_of(phase);
    key.is_for_long_context = false;  // which is made of this one
    part.fused_graphs[key];
  }
  std::deque<Result<std::vector<uint32_t>>> results;
  std::deque<BackgroundTask> tasks;
  for (auto& [key, fused] : part.fused_graphs) {
    const PartGraph& own = part.graphs[key.graph];
    Result<std::vector<uint32_t>>& result = results.emplace_back();
    tasks.emplace_back([&own, &options, &result, &fused, tail = key.tail, steps = key.steps] {
      fused.graph = with_tail(own.graph, tail);
      result = fuse::run_pipeline(fused.graph, steps, options.disabled_passes, own.target);
    });
  }
  for (BackgroundTask& task : tasks) TOK_TRY(task.wait());
  auto result = results.begin();
  for (auto& [key, fused] : part.fused_graphs) {
    TOK_TRY(fused.replacements, std::move(*result++));
  }
  return {};
}

/// Makes the graphs for long contexts, and drops the phases that have none.
void add_long_contexts(CompiledPart& part, std::vector<PhaseSpec>& phases) {
  std::erase_if(phases, [&](const PhaseSpec& phase) {
    const GraphKey key = key_of(phase);
    if (!key.is_for_long_context || part.fused_graphs.contains(key)) return false;
    GraphKey near = key;
    near.is_for_long_context = false;
    FusedGraph own = part.fused_graphs.at(near);
    auto graph = fuse::for_long_context(std::move(own.graph), part.graphs[key.graph].target);
    if (!graph) return true;
    own.graph = *std::move(graph);
    part.fused_graphs.emplace(key, std::move(own));
    return false;
  });
}

Result<Plan> capture_phases(const CompiledPart& part, std::span<const PhaseSpec> phases,
                            const DeviceInfo& device, CaptureOptions options) {
  for (const PhaseSpec& phase : phases) {
    options.phases.push_back({.name = phase.name,
                              .max_tokens = phase.max_rows,
                              .kind = phase.kind,
                              .graph = &part.fused_graphs.at(key_of(phase)).graph,
                              .from_position = phase.from_position});
  }
  return capture(*options.phases.front().graph, device, options);
}

/// Whether a phase for long contexts has a kernel of its own.
bool gains_in_long_contexts(const Plan& plan) {
  for (size_t i = 1; i < plan.phases.size(); ++i) {
    if (plan.phases[i].from_position > 0 &&
        !std::ranges::equal(plan.phases[i].steps, plan.phases[i - 1].steps, {}, &Step::kernel,
                            &Step::kernel)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Tail tail_of(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::kDecode:
      return Tail::kLogits;
    case PhaseKind::kSampled:
      return Tail::kDraw;
    case PhaseKind::kGreedy:
      return Tail::kBest;
    case PhaseKind::kVerify:
      return Tail::kList;
    case PhaseKind::kPrefill:
    case PhaseKind::kImages:
    case PhaseKind::kSound:
      break;
  }
  return Tail::kRows;
}

Graph with_tail(const Graph& graph, Tail tail) {
  if (tail == Tail::kRows) return graph;
  Graph logits = fuse::for_one_token(graph);
  if (tail == Tail::kDraw) return fuse::with_list(std::move(logits));
  if (tail == Tail::kBest) return fuse::with_argmax(std::move(logits));
  if (tail == Tail::kList) return fuse::with_top_tokens(std::move(logits));
  return logits;
}

Graph CompiledPart::unfused(size_t phase) const {
  return with_tail(graphs[keys[phase].graph].graph, keys[phase].tail);
}

Result<CompiledPart> compile_part(PartRequest request, const DeviceInfo& device,
                                  const PartOptions& options) {
  CompiledPart part;
  part.graphs = std::move(request.graphs);
  if (request.ranks > 1) TOK_TRY(shard_graphs(part, request.ranks));
  std::vector<PhaseSpec> phases = std::move(request.phases);
  TOK_TRY(fuse_graphs(part, phases, options));
  add_long_contexts(part, phases);
  const CaptureOptions capturing = {.phases = {},
                                    .forced = options.forced,
                                    .advice = options.advice,
                                    .slots = request.slots,
                                    .prompt_outputs = request.prompt_outputs,
                                    .ranks = request.ranks,
                                    .rows_for_kernels = request.rows_for_kernels};
  TOK_TRY(part.plan, capture_phases(part, phases, device, capturing));
  const auto is_for_long_context = [](const PhaseSpec& one) { return one.from_position > 0; };
  if (std::ranges::any_of(phases, is_for_long_context) && !gains_in_long_contexts(part.plan)) {
    std::erase_if(phases, is_for_long_context);
    std::erase_if(part.fused_graphs, [](const auto& one) { return one.first.is_for_long_context; });
    TOK_TRY(part.plan, capture_phases(part, phases, device, capturing));
  }
  for (const PhaseSpec& phase : phases) part.keys.push_back(key_of(phase));
  return part;
}

}  // namespace tokamak
