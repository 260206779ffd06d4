// The other half of experts: their products, added up by their shares, and the residual.
//
//   d = expert_linear x, w, chosen
//   s = expert_sum d, shares           ==>      y = expert_mix x, w, chosen, shares, r
//   y = add r, s
//
// and without the residual. Saves two dispatches per layer, and the results of all experts.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass expert_mix() {
  enum : Var { x, w, chosen, d, shares, r, y };
  const Pattern products = node<ExpertLinear>(d, {any(x), any(w), any(chosen)});
  const Pattern mix = node<ExpertMix>(d, {any(x), any(w), any(chosen), any(shares)});
  return {
      .name = "expert_mix",
      .patterns = {{node<ExpertSum>(y, {products, any(shares)})},
                   {node<Add>(y, {any(r), mix})},
                   {node<Add>(y, {mix, any(r)})}},
      .outputs = {y},
      .steps = Steps::kOne,
      .replace = [](Match& m) -> std::optional<Replacement> {
        if (const auto* mixed = m.as<ExpertMix>(d)) {
          return Replacement{*mixed, {m[x], m[w], m[chosen], m[shares], m[r]}};
        }
        const TensorDesc& matrix = m.type(w);
        if (!fits_fused_linear(matrix) ||
            m.type(x).shape[1] != matrix.shape[1] * m.type(chosen).shape[1]) {
          return std::nullopt;
        }
        return Replacement{ExpertMix{m.attributes<ExpertLinear>(d).experts},
                           {m[x], m[w], m[chosen], m[shares]}};
      },
  };
}

}  // namespace tokamak::fuse
