// Norms of heads in front of a gated product as what is before it.
//
//   n = rms_norm x, v                        y = fused_linear x, w, v, g
//   y = fused_linear n, w, g {gated}  ==>                    {prologue=head_norm, gated}
//
// Saves a dispatch per layer of the gated delta rule.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass head_norm() {
  enum : Var { x, v, n, w, g, y };
  return {
      .name = "head_norm",
      .patterns = {{node<FusedLinear>(y, {node<RmsNorm>(n, {any(x), any(v)}), any(w), any(g)})}},
      .outputs = {y},
      .steps = Steps::kOne,
      .replace = [](Match& m) -> std::optional<Replacement> {
        FusedLinear op = m.attributes<FusedLinear>(y);
        const Dim head = m.type(v).shape[0], heads = m.type(x).shape[1] / head;
        if (!op.gated || op.prologue != Prologue::kNone || op.epilogue != Epilogue::kNone ||
            head % 4 != 0 || heads > FusedLinear::kMaxHeads) {
          return std::nullopt;
        }
        op.prologue = Prologue::kHeadNorm;
        op.eps = m.attributes<RmsNorm>(n).eps;
        return Replacement{op, {m[x], m[w], m[v], m[g]}};
      },
  };
}

}  // namespace tokamak::fuse
