// A gate in front of a product of the library rounds what it gives, and norms the heads before.
//
//   norm    = rms_norm x, w
//   y       = glu gate, norm           ==>   rounded = gated_half gate, x, w
//   rounded = to_half y
//
// The same without a norm. Saves one or two dispatches, and round trips of what lies between.
#include "fuse/library/library_passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { gate, x, w, norm, y, rounded };

std::optional<Replacement> replace_rounded_gate(Match& m) {
  const auto& rounds = m.attributes<ToHalf>(rounded);
  const auto& glu = m.attributes<Glu>(y);
  if (rounds.activation != Activation::kIdentity) return std::nullopt;
  GatedHalf op = {.activation = glu.activation, .first = glu.first, .type = rounds.type};
  std::vector<ValueId> inputs = {m[gate], m[x]};
  if (m.has(norm)) {
    op.eps = m.attributes<RmsNorm>(norm).eps;
    inputs.push_back(m[w]);
  }
  if (!m.is_accepted(op, inputs)) return std::nullopt;
  return Replacement{op, std::move(inputs)};
}

}  // namespace

Pass rounded_gate() {
  return {
      .name = "rounded_gate",
      .patterns = {{node<ToHalf>(rounded, {node<Glu>(y, {any(gate),
                                                         node<RmsNorm>(norm, {any(x), any(w)})})})},
                   {node<ToHalf>(rounded, {node<Glu>(y, {any(gate), any(x)})})}},
      .outputs = {rounded},
      .fewest = Steps::kMany,
      .replace = replace_rounded_gate};
}

}  // namespace tokamak::fuse
