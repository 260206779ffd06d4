// The gated delta rule reads its operands from the row that one product gave.
//
//   joined = columns row   ab = columns row
//   y, state = gated_delta joined, ab, ...       ==>    y, state = gated_delta row, row, ...
//
// Saves two dispatches per layer.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass delta_row() {
  enum : Var { row, joined, ab, rates, state, y, kept };
  return {
      .name = "delta_row",
      .patterns = {{node<GatedDelta>(y,
                                     {node<Columns>(joined, {any(row)}),
                                      node<Columns>(ab, {any(row)}), any(rates), any(state)},
                                     {kept})}},
      .outputs = {y, kept},
      .steps = Steps::kDecode,
      .replace = [](Match& m) -> std::optional<Replacement> {
        const Columns& last = m.attributes<Columns>(ab);
        const bool ends = Dim{last.first} + Dim{last.count} == m.type(row).shape[1];
        if (m.attributes<Columns>(joined).first != 0 || !ends) return std::nullopt;
        return Replacement{m.attributes<GatedDelta>(y), {m[row], m[row], m[rates], m[state]}};
      },
  };
}

}  // namespace tokamak::fuse
