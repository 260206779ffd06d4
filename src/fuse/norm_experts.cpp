// RMSNorm folded into the products of experts, as norm_linear does for others.
//
//   n = rms_norm x, v                     ==>      y = expert_glu x, w, chosen, v {norm}
//   y = expert_glu n, w, chosen
//
// Saves a dispatch per layer where the router has folded it in, too.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass norm_experts() {
  enum : Var { x, v, n, w, chosen, bias, y };
  const Pattern norm = node<RmsNorm>(n, {any(x), any(v)});
  return {
      .name = "norm_experts",
      .patterns = {{node<ExpertGlu>(y, {norm, any(w), any(chosen)})},
                   {node<ExpertGlu>(y, {norm, any(w), any(chosen), any(bias)})}},
      .outputs = {y},
      .shared = {n},
      .steps = Steps::kOne,
      .replace = [](Match& m) -> std::optional<Replacement> {
        if (m.type(v).shape[0] != m.type(x).shape[1]) return std::nullopt;  // a norm per head
        ExpertGlu op = m.attributes<ExpertGlu>(y);
        if (op.norm) return std::nullopt;
        op.norm = true;
        op.eps = m.attributes<RmsNorm>(n).eps;
        Replacement made{op, {m[x], m[w], m[chosen], m[v]}};
        if (m.has(bias)) made.inputs.push_back(m[bias]);
        return made;
      },
  };
}

}  // namespace tokamak::fuse
