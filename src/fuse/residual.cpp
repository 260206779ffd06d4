// The residual add as the ending of the product before it.
//
//   y = linear x, w
//   s = add r, y              ==>      s = fused_linear x, w, r {behind=add}
//
// Saves a dispatch and the round trip of y for the output and the down projection of a layer.
#include "fuse/residual.h"

namespace tokamak::fuse {

Pass residual() {
  enum : Var { x, w, bias, r, y, s };
  const auto product = [](auto op, std::vector<Pattern> inputs) {
    return node<decltype(op)>(y, std::move(inputs));
  };
  std::vector<std::vector<Pattern>> patterns;
  for (const Pattern& made :
       {product(Linear{}, {any(x), any(w)}), product(Linear{}, {any(x), any(w), any(bias)}),
        product(FusedLinear{}, {any(x), any(w)}),
        product(FusedLinear{}, {any(x), any(w), any(bias)})}) {
    patterns.push_back({node<Add>(s, {any(r), made})});
    patterns.push_back({node<Add>(s, {made, any(r)})});
  }
  return {
      .name = "residual",
      .patterns = std::move(patterns),
      .outputs = {s},
      .one_token = true,
      .replace = [](Match& m) -> std::optional<Replacement> {
        FusedLinear op;
        if (const auto* fused = m.as<FusedLinear>(y)) {
          if (fused->norms() || fused->behind != Behind::kNone) return std::nullopt;
          op = *fused;
        } else if (!fits_fused_linear(m.type(w))) {
          return std::nullopt;
        }
        op.behind = Behind::kAdd;
        op.bias = m.has(bias);
        Replacement replacement{op, {m[x], m[w]}};
        if (op.bias) replacement.inputs.push_back(m[bias]);
        replacement.inputs.push_back(m[r]);
        return replacement;
      },
  };
}

}  // namespace tokamak::fuse
