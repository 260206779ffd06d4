// The gated half of an MLP: two products of one input and the gate between them, in one kernel.
//
//   g = linear x, wg                     w = interleave wg, wu
//   u = linear x, wu           ==>       y = linear_glu x, w
//   y = glu g, u
//
// Rows of gate and up alternate, so that one workgroup owns both halves of a result. Saves two
// dispatches and the round trips of g and u per layer.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass gate_up() {
  enum : Var { x, wg, wu, bg, bu, g, u, y };
  return {
      .name = "gate_up",
      .patterns = {{node<Glu>(y, {node<Linear>(g, {any(x), any(wg)}),
                                  node<Linear>(u, {any(x), any(wu)})})},
                   {node<Glu>(y, {node<Linear>(g, {any(x), any(wg), any(bg)}),
                                  node<Linear>(u, {any(x), any(wu), any(bu)})})}},
      .outputs = {y},
      .replace = [](Match& m) -> std::optional<Replacement> {
        const auto w = m.join_rows({wg, wu}, RowOrder::kInterleave, "gate_up");
        if (!w) return std::nullopt;
        Replacement r{LinearGlu{m.attributes<Glu>(y).activation}, {m[x], *w}};
        if (m.has(bg)) {
          const auto bias = m.join_rows({bg, bu}, RowOrder::kInterleave, "gate_up");
          if (!bias) return std::nullopt;
          r.inputs.push_back(*bias);
        }
        return r;
      },
  };
}

}  // namespace tokamak::fuse
