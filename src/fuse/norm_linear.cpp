// RMSNorm folded into the product that follows.
//
//   n = rms_norm x, v         ==>      y = fused_linear x, w, v {before=norm}
//   y = linear n, w
//
// Every workgroup reads all of x anyway: it multiplies with x v, adds up the squares of x beside,
// and scales its totals once. No pass, no barrier, no intermediate. Where several products read one
// norm, each folds it in.
#include "fuse/norm_linear.h"

namespace tokamak::fuse {

Pass norm_linear() {
  enum : Var { x, v, n, w, bias, y };
  const Pattern norm = node<RmsNorm>(n, {any(x), any(v)});
  return {
      .name = "norm_linear",
      .patterns = {{node<Linear>(y, {norm, any(w)})},
                   {node<Linear>(y, {norm, any(w), any(bias)})},
                   {node<LinearGlu>(y, {norm, any(w)})},
                   {node<LinearGlu>(y, {norm, any(w), any(bias)})}},
      .outputs = {y},
      .shared = {n},
      .one_token = true,
      .replace = [](Match& m) -> std::optional<Replacement> {
        if (!fits_fused_linear(m.type(w))) return std::nullopt;
        if (m.type(v).shape[0] != m.type(x).shape[1]) return std::nullopt;  // a norm per head
        FusedLinear op{
            .before = Before::kNorm, .bias = m.has(bias), .eps = m.attributes<RmsNorm>(n).eps};
        if (const auto* glu = m.as<LinearGlu>(y)) {
          op.behind = Behind::kGlu;
          op.activation = glu->activation;
        }
        Replacement replacement{op, {m[x], m[w]}};
        if (op.bias) replacement.inputs.push_back(m[bias]);
        replacement.inputs.push_back(m[v]);
        return replacement;
      },
  };
}

}  // namespace tokamak::fuse
