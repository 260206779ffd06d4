// A gate in front of a product of the library rounds what it gives, and norms the heads before.
//
//   norm    = rms_norm x, w
//   y       = glu gate, norm           ==>   rounded = gated_half gate, x, w
//   rounded = to_half y
//
// The same without a norm. Saves one or two dispatches, and round trips of what lies between.
#include <bit>

#include "fuse/library/library_passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { gate, x, w, norm, y, rounded };

std::optional<Replacement> replace_rounded_gate(Match& m) {
  const auto& rounds = m.attributes<ToHalf>(rounded);
  const auto& glu = m.attributes<Glu>(y);
  if (rounds.activation != Activation::kIdentity) return std::nullopt;
  if (glu.first % 8 != 0 || m.type(x).shape[1] % 8 != 0) return std::nullopt;
  GatedHalf op = {.activation = glu.activation, .first = glu.first, .type = rounds.type};
  if (!m.has(norm)) return Replacement{op, {m[gate], m[x]}};
  const Dim head = m.type(w).shape[0];
  const bool fits =
      head >= 4 && head <= Dim{GatedHalf::kMaxHead} && std::has_single_bit(uint64_t(head));
  if (!fits || glu.first != 0 || m.type(x).shape[1] != m.type(gate).shape[1]) return std::nullopt;
  op.eps = m.attributes<RmsNorm>(norm).eps;
  return Replacement{op, {m[gate], m[x], m[w]}};
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
