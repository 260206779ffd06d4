// States in texts of graphs and plans: a text has the type of each, and the ops that take it imply
// the rest.
#include <algorithm>

#include "graph/is_any.h"
#include "graph/kv_cache.h"
#include "graph/text.h"

namespace tokamak {

void imply_state(const Op& op, TensorDesc& value) {
  if (value.storage != Storage::kState || value.state) return;
  if (is_any<KvAppend, RopeAppend, Attention, StepAttention>(op)) {
    // A wrong shape is for the op's rule to reject.
    const bool has_heads = value.shape.size() == 4;
    const Dim heads = has_heads ? value.shape[2] : 0;
    const Dim head_dim = has_heads ? cached_head_dim(value.dtype, value.shape) : 0;
    value.state = kv_cache_spec(heads, head_dim, value.window);
  } else if (const auto* append = std::get_if<LatentAppend>(&op); append != nullptr) {
    const Dim width = value.shape.size() == 2 ? value.shape[1] : 0;
    value.state = latent_cache_spec(append->rank, std::max<Dim>(width - append->rank, 0));
  } else if (is_any<NextToken, BlockMaxima, TopKTokens, SampleToken>(op)) {
    value.state = StateSpec{StateKind::kSampled};
  } else if (is_any<ShortConv, GatedDelta, SelectiveScan, FusedLinear>(op)) {
    value.state = StateSpec{StateKind::kRecurrent};
  }
}

}  // namespace tokamak
