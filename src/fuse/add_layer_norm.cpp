// Residual add followed by LayerNorm, in one pass over the row.
//
//   sum  = add a, b
//   norm = layer_norm sum, w, bias
//     ==>   norm, sum = fused_norm a, b, w, bias {centered, adds, summed}
//
// Without the sum where nothing else reads it, as in models that norm after the addition. Saves one
// dispatch and one round trip of `sum` per norm.
#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { a, b, w, bias, sum, unread_sum, norm };

std::optional<Replacement> replace_add_layer_norm(Match& m) {
  const Var added = m.has(sum) ? sum : unread_sum;
  if (m.type(w).shape[0] != m.type(added).shape[1]) return std::nullopt;  // a norm per head
  const FusedNorm op = {.eps = m.attributes<LayerNorm>(norm).eps,
                        .centered = true,
                        .adds = true,
                        .summed = m.has(sum)};
  std::vector<ValueId> inputs = {m[a], m[b], m[w]};
  if (m.has(bias)) inputs.push_back(m[bias]);
  return Replacement{op, std::move(inputs)};
}

}  // namespace

Pass add_layer_norm() {
  const auto of = [](Var added, bool has_bias) -> std::vector<Pattern> {
    std::vector<Pattern> operands = {node<Add>(added, {any(a), any(b)}), any(w)};
    if (has_bias) operands.push_back(any(bias));
    return {node<LayerNorm>(norm, std::move(operands))};
  };
  return {.name = "add_layer_norm",
          .patterns = {of(unread_sum, true), of(sum, true), of(unread_sum, false), of(sum, false)},
          .outputs = {norm, sum},
          .replace = replace_add_layer_norm};
}

}  // namespace tokamak::fuse
