// The addition after a convolution as its ending.
//
//   y = causal_conv x, w, bias
//   s = add r, y                    ==>      s = causal_conv x, w, bias, r {adds=true}
//
// Saves a dispatch and the round trip of y for every block of a residual layer.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass conv_add() {
  enum : Var { x, w, bias, a, r, y, s };
  std::vector<std::vector<Pattern>> patterns;
  const std::vector<Pattern> plain = {any(x), any(w), any(bias)};
  const std::vector<Pattern> snake = {any(x), any(w), any(bias), any(a)};
  for (const std::vector<Pattern>& inputs : {plain, snake}) {
    const Pattern made = node<CausalConv>(y, inputs);
    patterns.push_back({node<Add>(s, {any(r), made})});
    patterns.push_back({node<Add>(s, {made, any(r)})});
  }
  return {
      .name = "conv_add",
      .patterns = std::move(patterns),
      .outputs = {s},
      .replace = [](Match& m) -> std::optional<Replacement> {
        CausalConv op = m.attributes<CausalConv>(y);
        if (op.adds) return std::nullopt;
        op.adds = true;
        Replacement replacement{op, m.inputs(y)};
        replacement.inputs.push_back(m[r]);
        return replacement;
      },
  };
}

}  // namespace tokamak::fuse
