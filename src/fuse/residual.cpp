// The residual add as the ending of the product before it.
//
//   y = linear x, w
//   s = add r, y              ==>      s = fused_linear x, w, r {epilogue=add}
//
// Saves a dispatch and the round trip of y for the output and the down projection of a layer.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass residual() {
  enum : Var { x, w, third, fourth, r, y, s };
  const std::vector<Pattern> two = {any(x), any(w)}, three = {any(x), any(w), any(third)};
  const std::vector<Pattern> four = {any(x), any(w), any(third), any(fourth)};
  std::vector<std::vector<Pattern>> patterns;
  for (const Pattern& made :
       {node<Linear>(y, two), node<Linear>(y, three), node<FusedLinear>(y, two),
        node<FusedLinear>(y, three), node<FusedLinear>(y, four)}) {
    patterns.push_back({node<Add>(s, {any(r), made})});
    patterns.push_back({node<Add>(s, {made, any(r)})});
  }
  return {
      .name = "residual",
      .patterns = std::move(patterns),
      .outputs = {s},
      .steps = Steps::kOne,
      .replace = [](Match& m) -> std::optional<Replacement> {
        FusedLinear op;
        if (const auto* fused = m.as<FusedLinear>(y)) {
          const bool norms = fused->norms() && fused->prologue != Prologue::kHeadNorm;
          if (norms || fused->epilogue != Epilogue::kNone) return std::nullopt;
          op = *fused;
        } else if (fits_fused_linear(m.type(w))) {
          op.bias = m.has(third);
        } else {
          return std::nullopt;
        }
        op.epilogue = Epilogue::kAdd;
        Replacement replacement{op, m.inputs(y)};
        replacement.inputs.push_back(m[r]);
        return replacement;
      },
  };
}

}  // namespace tokamak::fuse
