// A norm folded into the product that follows.
//
//   n = rms_norm x, v         ==>      y = fused_linear x, w, v {prologue=norm}
//   y = linear n, w
//
// and layer_norm alike, with its bias. Every workgroup reads all of x anyway: it multiplies with
// x v, adds up the squares of x beside, and scales its totals once; for layer_norm it looks at the
// row before. No pass, no barrier, no intermediate. Where several products read one
// norm, each folds it in.
#include "fuse/passes.h"

namespace tokamak::fuse {

namespace {

enum : Var { x, v, bias, n, w, third, fourth, y, kept };

std::optional<Replacement> replace_norm_linear(Match& m) {
  if (!fits_fused_linear(m.type(w))) return std::nullopt;
  if (m.type(v).shape[0] != m.type(x).shape[1]) return std::nullopt;  // a norm per head
  std::vector<ValueId> inputs = m.inputs(y);
  inputs[0] = m[x];
  FusedLinear op;
  if (const auto* fused = m.as<FusedLinear>(y)) {
    const bool fits = fused->epilogue == Epilogue::kConv || fused->epilogue == Epilogue::kGate;
    if (!fits || fused->prologue != Prologue::kNone || fused->gated) return std::nullopt;
    op = *fused;
  } else {
    op.bias = m.has(third);
  }
  if (const auto* glu = m.as<LinearGlu>(y)) {
    op.epilogue = Epilogue::kGlu;
    op.activation = glu->activation;
  }
  std::optional<ValueId> weight = m[v];
  if (const auto* layer = m.as<LayerNorm>(n)) {
    op.prologue = Prologue::kLayerNorm;
    op.eps = layer->eps;
    if (m.has(bias)) weight = m.join_rows({v, bias}, RowOrder::kConcat, "norm");
    if (!weight) return std::nullopt;
  } else {
    op.prologue = Prologue::kNorm;
    op.eps = m.attributes<RmsNorm>(n).eps;
  }
  inputs.insert(inputs.begin() + std::ptrdiff_t(op.w()), *weight);
  return Replacement{op, std::move(inputs)};
}

}  // namespace

Pass norm_linear() {
  Pass pass = {.name = "norm_linear",
               .patterns = {},
               .outputs = {y, kept},
               .shared = {n},
               .steps = Steps::kOne,
               .replace = replace_norm_linear};
  for (const Pattern& norm :
       {node<RmsNorm>(n, {any(x), any(v)}), node<LayerNorm>(n, {any(x), any(v)}),
        node<LayerNorm>(n, {any(x), any(v), any(bias)})}) {
    const std::vector<Pattern> two = {norm, any(w)}, three = {norm, any(w), any(third)};
    pass.patterns.insert(pass.patterns.end(),
                         {{node<Linear>(y, two)},
                          {node<Linear>(y, three)},
                          {node<LinearGlu>(y, two)},
                          {node<LinearGlu>(y, three)},
                          {node<FusedLinear>(y, {norm, any(w), any(third), any(fourth)}, {kept})},
                          {node<FusedLinear>(y, three)}});
  }
  return pass;
}

}  // namespace tokamak::fuse
