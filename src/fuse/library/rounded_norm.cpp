// A norm that products of a library read rounds what it gives.
//
//   norm    = layer_norm x, w, bias       rounded, norm = fused_norm x, w, bias {centered, rounded,
//   rounded = to_half norm          ==>                                          plain}
//
// Without the norm itself where nothing else reads it, and the same of rms_norm, and of norms with
// the addition before them (and a norm before that, see norm_add), which keep the sum. Saves one
// dispatch, and a round trip of `norm`.
#include "fuse/library/library_passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { a, b, w, bias, fifth, sum, rms_sum, norm, unread_norm, rounded };

std::optional<Replacement> replace_rounded_norm(Match& m) {
  if (m.attributes<ToHalf>(rounded).activation != Activation::kIdentity) return std::nullopt;
  const Var made = m.has(norm) ? norm : unread_norm;
  if (const auto* added = m.has(rms_sum) ? nullptr : m.as<NormAdd>(made)) {
    if (!added->normed || added->rounded != Half::kNone) return std::nullopt;
    NormAdd own = *added;
    own.rounded = m.attributes<ToHalf>(rounded).type;
    return Replacement{own, m.inputs(made)};
  }
  if (m.type(w).shape[0] != m.type(made).shape[1]) return std::nullopt;  // a norm per head
  FusedNorm op = {.rounded = m.attributes<ToHalf>(rounded).type, .plain = m.has(norm)};
  if (m.has(rms_sum)) {
    const auto& own = m.attributes<AddRmsNorm>(rms_sum);
    if (own.parts != 1) return std::nullopt;
    op.eps = own.eps;
    op.adds = op.summed = true;
  } else if (const auto* fused = m.as<FusedNorm>(made)) {
    if (fused->rounded != Half::kNone) return std::nullopt;
    op.eps = fused->eps;
    op.centered = fused->centered;
    op.adds = fused->adds;
    op.summed = fused->summed;
  } else if (const auto* layer = m.as<LayerNorm>(made)) {
    op.eps = layer->eps;
    op.centered = true;
  } else {
    op.eps = m.attributes<RmsNorm>(made).eps;
  }
  std::vector<ValueId> inputs = {m[a]};
  for (const Var operand : {b, w, bias}) {
    if (m.has(operand)) inputs.push_back(m[operand]);
  }
  return Replacement{op, std::move(inputs)};
}

/// Every norm there is, as `made`, and what rounds it.
void add_patterns(Var made, std::vector<std::vector<Pattern>>& all) {
  const auto add = [&](Pattern one) { all.push_back({node<ToHalf>(rounded, {std::move(one)})}); };
  add(node<LayerNorm>(made, {any(a), any(w), any(bias)}));
  add(node<LayerNorm>(made, {any(a), any(w)}));
  add(node<RmsNorm>(made, {any(a), any(w)}));
  for (const std::vector<Var>& others : {std::vector<Var>{sum}, std::vector<Var>{}}) {
    add(node<FusedNorm>(made, {any(a), any(b), any(w), any(bias)}, others));
    add(node<FusedNorm>(made, {any(a), any(b), any(w)}, others));
  }
  all.push_back({node<AddRmsNorm>(rms_sum, {any(a), any(b), any(w)}, {made}),
                 node<ToHalf>(rounded, {any(made)})});
}

}  // namespace

Pass rounded_norm() {
  Pass pass = {.name = "rounded_norm",
               .patterns = {},
               .outputs = {rounded, sum, rms_sum, norm},
               .fewest = Steps::kMany,
               .replace = replace_rounded_norm};
  add_patterns(unread_norm, pass.patterns);
  for (const std::vector<Pattern>& inputs :
       {std::vector<Pattern>{any(a), any(b), any(w), any(bias)},
        std::vector<Pattern>{any(a), any(b), any(w), any(bias), any(fifth)}}) {
    pass.patterns.push_back({node<ToHalf>(rounded, {node<NormAdd>(unread_norm, inputs, {sum})})});
  }
  add_patterns(norm, pass.patterns);
  return pass;
}

}  // namespace tokamak::fuse
