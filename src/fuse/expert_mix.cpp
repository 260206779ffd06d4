// The other half of experts: their products, added up by their shares, and the residual.
//
//   d = expert_linear x, w, chosen
//   s = expert_sum d, shares           ==>      y = expert_mix x, w, chosen, shares, r
//   y = add r, s
//
// without the residual, and with biases. Saves two dispatches per layer, and the results of all
// experts.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass expert_mix() {
  enum : Var { x, w, chosen, bias, d, shares, r, y };
  std::vector<std::vector<Pattern>> patterns;
  for (const bool biased : {false, true}) {
    Pattern products = node<ExpertLinear>(d, {any(x), any(w), any(chosen)});
    Pattern mix = node<ExpertMix>(d, {any(x), any(w), any(chosen), any(shares)});
    if (biased) {
      products.inputs.push_back(any(bias));
      mix.inputs.push_back(any(bias));
    }
    patterns.push_back({node<ExpertSum>(y, {products, any(shares)})});
    patterns.push_back({node<Add>(y, {any(r), mix})});
    patterns.push_back({node<Add>(y, {mix, any(r)})});
  }
  return {
      .name = "expert_mix",
      .patterns = std::move(patterns),
      .outputs = {y},
      .steps = Steps::kOne,
      .replace = [](Match& m) -> std::optional<Replacement> {
        std::vector<ValueId> inputs = {m[x], m[w], m[chosen], m[shares]};
        if (m.has(bias)) inputs.push_back(m[bias]);
        if (const auto* mixed = m.as<ExpertMix>(d)) {
          if (mixed->bias != m.has(bias)) return std::nullopt;  // the last one is added already
          inputs.push_back(m[r]);
          return Replacement{*mixed, std::move(inputs)};
        }
        const TensorDesc& matrix = m.type(w);
        if (!fits_fused_linear(matrix) ||
            m.type(x).shape[1] != matrix.shape[1] * m.type(chosen).shape[1]) {
          return std::nullopt;
        }
        return Replacement{ExpertMix{m.attributes<ExpertLinear>(d).experts, m.has(bias)},
                           std::move(inputs)};
      },
  };
}

}  // namespace tokamak::fuse
