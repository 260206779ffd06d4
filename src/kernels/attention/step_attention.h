// All that attention does between its two products, for one token: norms of heads, rotation, the
// append to the cache, attention over it. See graph/fused_ops.h for the contract, attention.h for
// the cache.
//
// Every workgroup makes its own queries and the step's key and value ready, so that nothing waits
// for a pass of its own; the workgroup that has the last split and the first query of a key head
// writes them into the cache. The splits are merged by what follows (prologue/merge_splits.wgsl):
// flash decoding (Dao et al. 2023, crfm.stanford.edu/2023/10/12/flashdecoding.html).
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

std::span<const KernelVariant> step_attention_variants();

/// Makes row t of a StepAttention ready on the host: appends its key and value, if it does, and
/// gives its queries, [heads, head_dim].
void prepare_step_attention(const CpuCall& call, size_t t, std::span<float> queries);

/// The cache of a StepAttention, and the page tables.
struct StepAttentionCache {
  const CpuTensor &cells, &pages;
};
StepAttentionCache step_attention_cache(const CpuCall& call);

}  // namespace tokamak
