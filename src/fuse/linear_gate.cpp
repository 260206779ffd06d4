// A product whose result gates something, and the gate as its ending.
//
//   l = linear x, w     (g = columns row)
//   y = glu l, g                          ==>    y = fused_linear x, w, row {epilogue=gate, first}
//
// Saves a dispatch, and another one where what is gated are columns of a row.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass linear_gate() {
  enum : Var { x, w, bias, l, row, g, y };
  std::vector<std::vector<Pattern>> patterns;
  for (const Pattern& gated : {node<Columns>(g, {any(row)}), any(g)}) {
    patterns.push_back({node<Glu>(y, {node<Linear>(l, {any(x), any(w)}), gated})});
    patterns.push_back({node<Glu>(y, {node<Linear>(l, {any(x), any(w), any(bias)}), gated})});
  }
  return {
      .name = "linear_gate",
      .patterns = std::move(patterns),
      .outputs = {y},
      .steps = Steps::kOne,
      .replace = [](Match& m) -> std::optional<Replacement> {
        if (!fits_fused_linear(m.type(w))) return std::nullopt;
        const FusedLinear op{.epilogue = Epilogue::kGate,
                             .bias = m.has(bias),
                             .activation = m.attributes<Glu>(y).activation,
                             .first = m.has(row) ? m.attributes<Columns>(g).first : 0};
        Replacement r{op, {m[x], m[w]}};
        if (op.bias) r.inputs.push_back(m[bias]);
        r.inputs.push_back(m.has(row) ? m[row] : m[g]);
        return r;
      },
  };
}

}  // namespace tokamak::fuse
