// The sandwich of norms that Gemma has around its residual adds, folded into the product after it.
//
//   n = rms_norm x, u
//   s = add a, n                           ==>   y, s = fused_linear x, w, a, u|v
//   y = fused_linear s, w, v {prologue=norm}               {prologue=norm_add_norm}
//
// With a factor, s is `scale s, k`. A product that reads s without a norm becomes one with
// prologue=norm_add. Saves two dispatches, or three; s stays an output, which one workgroup writes.
#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { x, u, n, a, k, unscaled, s, w, third, fourth, y };

std::optional<Replacement> replace_norm_add_norm(Match& m) {
  FusedLinear op;
  if (const auto* fused = m.as<FusedLinear>(y)) {
    op = *fused;
  } else if (!fits_fused_linear(m.type(w))) {
    return std::nullopt;
  } else {
    op.bias = m.has(third);
  }
  const float eps = m.attributes<RmsNorm>(n).eps;
  const bool normed = op.prologue == Prologue::kNorm;
  if ((!normed && op.prologue != Prologue::kNone) || op.gated || op.epilogue == Epilogue::kAdd ||
      op.epilogue == Epilogue::kConv || (normed && op.eps != eps) ||
      m.type(u).shape[0] != m.type(x).shape[1]) {
    return std::nullopt;
  }
  op.scaled = m.has(k);
  if (op.scaled && m.attributes<Scale>(s).factor != 1) return std::nullopt;
  // Beside them x, a, norms, w, which may be bound twice, and two results.
  constexpr uint32_t kOthers = 7;
  const uint32_t more = uint32_t{op.scaled} + uint32_t{op.bias} + (op.epilogue == Epilogue::kGate);
  if (kOthers + more > m.target().max_bindings) return std::nullopt;
  std::vector<ValueId> inputs = m.inputs(y);
  inputs[0] = m[x];
  ValueId norms = m[u];
  if (normed) {
    const Var v = op.bias ? fourth : third;
    const auto both = m.join_rows({u, v}, RowOrder::kConcat, "norms");
    if (!both) return std::nullopt;
    norms = *both;
    inputs.erase(inputs.begin() + std::ptrdiff_t(op.w()));
  }
  op.prologue = normed ? Prologue::kNormAddNorm : Prologue::kNormAdd;
  op.eps = eps;
  std::vector<ValueId> added = {m[a], norms};
  if (op.scaled) added.push_back(m[k]);
  inputs.insert(inputs.begin() + std::ptrdiff_t(op.a()), added.begin(), added.end());
  return Replacement{op, std::move(inputs)};
}

}  // namespace

Pass norm_add_norm() {
  const Pattern norm = node<RmsNorm>(n, {any(x), any(u)});
  const auto sums = [&](Var out) {
    return std::vector<Pattern>{node<Add>(out, {any(a), norm}), node<Add>(out, {norm, any(a)})};
  };
  std::vector<Pattern> made = sums(s);
  for (const Pattern& sum : sums(unscaled)) made.push_back(node<Scale>(s, {sum, any(k)}));
  std::vector<std::vector<Pattern>> patterns;
  for (const Pattern& sum : made) {
    patterns.push_back({node<FusedLinear>(y, {sum, any(w), any(third)})});
    patterns.push_back({node<FusedLinear>(y, {sum, any(w), any(third), any(fourth)})});
    patterns.push_back({node<Linear>(y, {sum, any(w)})});
    patterns.push_back({node<Linear>(y, {sum, any(w), any(third)})});
  }
  return {.name = "norm_add_norm",
          .patterns = std::move(patterns),
          .outputs = {y, s},
          .steps = Steps::kOne,
          .replace = replace_norm_add_norm};
}

}  // namespace tokamak::fuse
