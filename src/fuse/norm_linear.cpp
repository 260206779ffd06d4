// RMSNorm folded into the product that follows.
//
//   n = rms_norm x, v         ==>      y = fused_linear x, w, v {prologue=norm}
//   y = linear n, w
//
// Every workgroup reads all of x anyway: it multiplies with x v, adds up the squares of x beside,
// and scales its totals once. No pass, no barrier, no intermediate. Where several products read one
// norm, each folds it in.
#include "fuse/norm_linear.h"

namespace tokamak::fuse {

Pass norm_linear() {
  enum : Var { x, v, n, w, third, fourth, y, kept };
  const Pattern norm = node<RmsNorm>(n, {any(x), any(v)});
  const std::vector<Pattern> two = {norm, any(w)}, three = {norm, any(w), any(third)};
  return {
      .name = "norm_linear",
      .patterns = {{node<Linear>(y, two)},
                   {node<Linear>(y, three)},
                   {node<LinearGlu>(y, two)},
                   {node<LinearGlu>(y, three)},
                   {node<FusedLinear>(y, {norm, any(w), any(third), any(fourth)}, {kept})},
                   {node<FusedLinear>(y, three)}},
      .outputs = {y, kept},
      .shared = {n},
      .steps = Steps::kOne,
      .replace = [](Match& m) -> std::optional<Replacement> {
        if (!fits_fused_linear(m.type(w))) return std::nullopt;
        if (m.type(v).shape[0] != m.type(x).shape[1]) return std::nullopt;  // a norm per head
        std::vector<ValueId> inputs = m.inputs(y);
        inputs[0] = m[x];
        FusedLinear op;
        if (const auto* fused = m.as<FusedLinear>(y)) {
          const bool fits =
              fused->epilogue == Epilogue::kConv || fused->epilogue == Epilogue::kGate;
          if (!fits || fused->prologue != Prologue::kNone || fused->gated) return std::nullopt;
          op = *fused;
        } else {
          op.bias = m.has(third);
        }
        if (const auto* glu = m.as<LinearGlu>(y)) {
          op.epilogue = Epilogue::kGlu;
          op.activation = glu->activation;
        }
        op.prologue = Prologue::kNorm;
        op.eps = m.attributes<RmsNorm>(n).eps;
        inputs.insert(inputs.begin() + std::ptrdiff_t(op.w()), m[v]);
        return Replacement{op, std::move(inputs)};
      },
  };
}

}  // namespace tokamak::fuse
