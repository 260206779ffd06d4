#include "engine/phases.h"

#include <algorithm>

#include "engine/task.h"
#include "kernels/linear/small_batch.h"
#include "model/speech.h"

namespace tokamak {
namespace {

using fuse::Steps;

/// Steps of several tokens of a prompt, and what such steps read beside tokens.
void add_prompts(const PhaseFacts& facts, std::vector<PhaseSpec>& phases) {
  const uint32_t chunk = facts.chunk;
  if (chunk > 1) phases.push_back({"prefill", PhaseKind::kPrefill, chunk});
  // Without matrix units longer steps have the same kernels.
  if (facts.has_matrix && facts.by_rows && chunk > kShortChunk) {
    phases.push_back({"short", PhaseKind::kPrefill, kShortChunk});
  }
  // Workgroups that take turns run short steps like all others.
  const Steps few = facts.is_parallel ? Steps::kShort : Steps::kMany;
  if (facts.is_parallel && facts.by_rows && chunk > fuse::kShortStep) {
    phases.push_back({"short_64", PhaseKind::kPrefill, fuse::kShortStep, few});
  }
  if (facts.by_rows && chunk > kSmallBatch) {
    phases.push_back({"small_batch", PhaseKind::kPrefill, kSmallBatch, few});
  }
  if (facts.images != 0) {
    phases.push_back({"images", PhaseKind::kImages, chunk, Steps::kMany, facts.images});
  }
  for (size_t i = 0; i < facts.sound_rows.size(); ++i) {
    phases.push_back(
        {stage_input(i), PhaseKind::kSound, facts.sound_rows[i], Steps::kMany, facts.sound + i});
  }
}

/// Steps of one token of one sequence.
void add_single_tokens(const PhaseFacts& facts, std::vector<PhaseSpec>& phases) {
  const Steps one = facts.by_rows ? Steps::kOne : Steps::kMany;
  const bool has_long_context = facts.gives_text && facts.by_rows && facts.context > kLongContext;
  struct Row {
    const char* name;
    PhaseKind kind;
    bool for_text_only;
  };
  for (const Row& row :
       {Row{"decode", PhaseKind::kDecode, false}, Row{"sampled", PhaseKind::kSampled, true},
        Row{"greedy", PhaseKind::kGreedy, true}}) {
    if (row.for_text_only && !facts.gives_text) continue;
    phases.push_back({row.name, row.kind, 1, one});
    if (!has_long_context) continue;
    phases.push_back({fmt::format("{}_long", row.name), row.kind, 1, one, 0, kLongContext});
  }
}

/// The numbers of rows for which kernels differ, up to `most`.
std::vector<uint32_t> row_counts(const PhaseFacts& facts, std::vector<uint32_t> counts,
                                 uint32_t most) {
  if (!facts.by_rows) return {most};
  if (facts.has_few_rows) counts.insert(counts.begin(), kFewRows);
  std::erase_if(counts, [&](uint32_t rows) { return rows >= most; });
  counts.push_back(most);
  return counts;
}

/// Steps of one token of each of several sequences. Kernels differ for few rows, some and many.
void add_batches(const PhaseFacts& facts, std::vector<PhaseSpec>& phases) {
  if (!facts.gives_text || facts.sequences == 1) return;
  const Steps each = facts.by_rows ? Steps::kDecode : Steps::kMany;
  const uint32_t most = facts.by_rows ? std::min(kMaxSequences, facts.sequences) : facts.sequences;
  for (const uint32_t rows : row_counts(facts, {kSmallBatch, 32}, most)) {
    phases.push_back({fmt::format("sampled_{}", rows), PhaseKind::kSampled, rows, each});
    phases.push_back({fmt::format("greedy_{}", rows), PhaseKind::kGreedy, rows, each});
  }
}

/// Steps that verify drafts.
void add_drafts(const PhaseFacts& facts, std::vector<PhaseSpec>& phases) {
  if (facts.draft_tokens == 0) return;
  const Steps few = facts.is_parallel && facts.by_rows ? Steps::kShort : Steps::kMany;
  const uint32_t rows_of_all = (facts.draft_tokens + 1) * facts.sequences;
  const uint32_t most = std::min({facts.chunk, rows_of_all, fuse::kShortStep});
  for (const uint32_t rows : row_counts(facts, {kSmallBatch}, most)) {
    phases.push_back({fmt::format("verify_{}", rows), PhaseKind::kVerify, rows, few});
  }
}

}  // namespace

std::vector<PhaseSpec> phases_of(const PhaseFacts& facts) {
  std::vector<PhaseSpec> phases;
  add_prompts(facts, phases);
  add_single_tokens(facts, phases);
  add_batches(facts, phases);
  add_drafts(facts, phases);
  return phases;
}

}  // namespace tokamak
