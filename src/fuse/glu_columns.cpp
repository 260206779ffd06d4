// Columns of a row that are gated are read where they lie.
//
//   g = columns row {first}
//   y = glu l, g                ==>    y = glu l, row {first}
//
// Saves a dispatch, and a copy of the columns: Gemma 4 has one per layer in its per-layer
// embeddings. linear_gate does it where the product before it takes the gate.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass glu_columns() {
  enum : Var { l, row, g, y };
  return {
      .name = "glu_columns",
      .patterns = {{node<Glu>(y, {any(l), node<Columns>(g, {any(row)})})}},
      .outputs = {y},
      .replace = [](Match& m) -> std::optional<Replacement> {
        Glu op = m.attributes<Glu>(y);
        op.first += m.attributes<Columns>(g).first;
        return Replacement{op, {m[l], m[row]}};
      },
  };
}

}  // namespace tokamak::fuse
