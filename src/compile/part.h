// A part of a model: graphs that one program runs. The text with what it reads beside it (images,
// the stages of a sound) is one, and so are a vision tower, a codec, and the text of a draft model.
//
// A part is compiled by the rows of a table, its phases: each says which graph it runs, where that
// ends and for which steps it is fused. A graph is fused once for all phases that agree on it.
#pragma once
#include <compare>
#include <map>
#include <string>
#include <vector>

#include "compile/shard.h"
#include "fuse/pipeline.h"
#include "plan/plan.h"

namespace tokamak {

/// The end of a graph.
enum class Tail : uint8_t {
  kRows,    // as the architecture writes it: in the rows that are wanted
  kLogits,  // in those of every token
  kDraw,    // in a list of the most probable tokens, and one that is drawn from it
  kBest,    // in the most probable token
  kList,    // in a list of the most probable tokens for every token
};
Tail tail_of(PhaseKind kind);

/// The graph with that tail. REQUIRES: it ends in logits, or `tail` is kRows or kLogits.
Graph with_tail(const Graph& graph, Tail tail);

/// A row of the table. Those from a position on take the place of the row before them, and are left
/// out where the graph has no other form for long contexts, or no phase a kernel of its own there.
struct PhaseSpec {
  std::string name;
  PhaseKind kind = PhaseKind::kPrefill;
  uint32_t max_rows = 1;
  fuse::Steps steps = fuse::Steps::kMany;
  size_t graph = 0;  // of the part's
  uint32_t from_position = 0;
};

/// An unfused graph, and what its passes may count on.
struct PartGraph {
  Graph graph;
  fuse::Target target;
};

/// Which form of a part's graph a phase runs.
struct GraphKey {
  size_t graph = 0;
  Tail tail = Tail::kRows;
  fuse::Steps steps = fuse::Steps::kMany;
  bool is_for_long_context = false;
  auto operator<=>(const GraphKey&) const = default;
};

struct FusedGraph {
  Graph graph;
  std::vector<uint32_t> replacements;  // per pass of fuse::passes()
};

/// The facts about a device and the wishes for its kernels, for all parts of a model.
struct PartOptions {
  fuse::Target target;
  fuse::DisabledPasses disabled_passes;
  ForcedVariants forced;
  VariantAdvice advice;
};

struct CompiledPart {
  std::vector<PartGraph> graphs;
  std::map<GraphKey, FusedGraph> fused_graphs;
  std::vector<GraphKey> keys;  // of the plan's phases
  ShardReport cut;             // of the first graph, where there are several ranks
  Plan plan;

  /// The first graph, and its form for steps of any number of tokens.
  const Graph& unfused() const { return graphs.front().graph; }
  const Graph& fused() const { return fused_graphs.at({}).graph; }
  /// The form that a phase of the plan runs, and that before fusion.
  const FusedGraph& fused(size_t phase) const { return fused_graphs.at(keys[phase]); }
  Graph unfused(size_t phase) const;
};

struct PartRequest {
  std::vector<PartGraph> graphs;
  std::vector<PhaseSpec> phases;
  // The same as in CaptureOptions.
  uint32_t slots = 1, prompt_outputs = kMaxPromptOutputs, rows_for_kernels = 0;
  uint32_t ranks = 1;  // that run it together, each with a part of its weights
};

/// Cuts the graphs for several ranks, fuses them and plans the phases. Errors: those of
/// shard_all(), of passes' names and of capture(). REQUIRES: a graph and a phase.
Result<CompiledPart> compile_part(PartRequest request, const DeviceInfo& device,
                                  const PartOptions& options);

}  // namespace tokamak
