#include "fuse/pipeline.h"

#include "fuse/add_rms_norm.h"
#include "fuse/gate_up.h"
#include "fuse/qkv.h"
#include "fuse/scale_embed.h"

namespace tokamak::fuse {

std::span<const Pass> passes() {
  // gate_up comes before qkv: both take linears of one input, and a gate with its product is the
  // narrower pattern. The others meet no common node.
  static const std::vector<Pass> all = {scale_embed(), gate_up(), qkv(), add_rms_norm()};
  return all;
}

Result<std::vector<uint32_t>> run_pipeline(Graph& graph, const DisabledPasses& disabled) {
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
    counts.push_back(disabled.contains(pass.name) ? 0 : run(pass, graph));
  }
  return counts;
}

}  // namespace tokamak::fuse
