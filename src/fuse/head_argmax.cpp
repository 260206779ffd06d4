// The first stage of the choice of a token as the ending of the product that gives the logits, so
// that greedy decoding never writes them.
//
//   y = linear x, w           (softcap y)       ==>   c = fused_linear x, w {epilogue=argmax}
//   c = block_argmax y
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass head_argmax() {
  enum : Var { x, w, v, y, cap, c };
  std::vector<std::vector<Pattern>> patterns;
  for (const Pattern& logits :
       {node<Linear>(y, {any(x), any(w)}), node<FusedLinear>(y, {any(x), any(w), any(v)})}) {
    patterns.push_back({node<BlockArgmax>(c, {logits})});
    patterns.push_back({node<BlockArgmax>(c, {node<Softcap>(cap, {logits})})});
  }
  return {
      .name = "head_argmax",
      .patterns = std::move(patterns),
      .outputs = {c},
      .steps = Steps::kOne,
      .replace = [](Match& m) -> std::optional<Replacement> {
        FusedLinear op;
        if (const auto* fused = m.as<FusedLinear>(y)) {
          if (fused->prologue != Prologue::kNorm || fused->epilogue != Epilogue::kNone)
            return std::nullopt;
          op = *fused;
        } else if (!fits_fused_linear(m.type(w))) {
          return std::nullopt;
        }
        op.epilogue = Epilogue::kArgmax;
        if (m.has(cap)) op.softcap = m.attributes<Softcap>(cap).cap;
        Replacement replacement{op, {m[x], m[w]}};
        if (op.norms()) replacement.inputs.push_back(m[v]);
        return replacement;
      },
  };
}

}  // namespace tokamak::fuse
