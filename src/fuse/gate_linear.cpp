// A gate on the input of a product as what is before it.
//
//   (g = columns row)
//   z = glu g, x             ==>    y = fused_linear x, w, row {gated, first}
//   y = linear z, w
//
// Saves a dispatch, and another one where the gate is columns of a row. Every workgroup of the
// product makes its own x, which is short beside its weights.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass gate_linear() {
  enum : Var { row, g, x, z, w, bias, y };
  std::vector<std::vector<Pattern>> patterns;
  for (const Pattern& gate : {node<Columns>(g, {any(row)}), any(g)}) {
    const Pattern gated = node<Glu>(z, {gate, any(x)});
    patterns.push_back({node<Linear>(y, {gated, any(w)})});
    patterns.push_back({node<Linear>(y, {gated, any(w), any(bias)})});
  }
  return {
      .name = "gate_linear",
      .patterns = std::move(patterns),
      .outputs = {y},
      .steps = Steps::kOne,
      .replace = [](Match& m) -> std::optional<Replacement> {
        const uint32_t first = m.has(row) ? m.attributes<Columns>(g).first : 0;
        if (!fits_fused_linear(m.type(w)) || first % 4 != 0) return std::nullopt;
        const FusedLinear op{.bias = m.has(bias),
                             .activation = m.attributes<Glu>(z).activation,
                             .gated = true,
                             .first = first};
        Replacement r{op, {m[x], m[w]}};
        if (op.bias) r.inputs.push_back(m[bias]);
        r.inputs.push_back(m.has(row) ? m[row] : m[g]);
        return r;
      },
  };
}

}  // namespace tokamak::fuse
