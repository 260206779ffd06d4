// The sandwich of norms that Gemma has around its residual adds, folded into the product behind it.
//
//   n = rms_norm x, u
//   s = add a, n                           ==>   y, s = fused_linear x, w, a, u, v
//   y = fused_linear s, w, v {before=norm}               {before=norm_add_norm}
//
// Saves two dispatches; s stays an output, which one workgroup writes.
#include "fuse/norm_add_norm.h"

namespace tokamak::fuse {

Pass norm_add_norm() {
  enum : Var { x, u, n, a, s, w, bias, v, y };
  const Pattern norm = node<RmsNorm>(n, {any(x), any(u)});
  std::vector<std::vector<Pattern>> patterns;
  for (const Pattern& sum : {node<Add>(s, {any(a), norm}), node<Add>(s, {norm, any(a)})}) {
    patterns.push_back({node<FusedLinear>(y, {sum, any(w), any(v)})});
    patterns.push_back({node<FusedLinear>(y, {sum, any(w), any(bias), any(v)})});
  }
  return {
      .name = "norm_add_norm",
      .patterns = std::move(patterns),
      .outputs = {y, s},
      .one_token = true,
      .replace = [](Match& m) -> std::optional<Replacement> {
        FusedLinear op = m.attributes<FusedLinear>(y);
        if (op.before != Before::kNorm || op.behind == Behind::kAdd || op.bias != m.has(bias) ||
            op.eps != m.attributes<RmsNorm>(n).eps || m.type(u).shape[0] != m.type(x).shape[1]) {
          return std::nullopt;
        }
        op.before = Before::kNormAddNorm;
        Replacement replacement{op, {m[x], m[w]}};
        if (op.bias) replacement.inputs.push_back(m[bias]);
        for (const Var var : {a, u, v}) replacement.inputs.push_back(m[var]);
        return replacement;
      },
  };
}

}  // namespace tokamak::fuse
