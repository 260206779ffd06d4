// Residual add followed by RMSNorm, in one pass over the row.
//
//   sum  = add a, b                       sum, norm = add_rms_norm a, b, w
//   norm = rms_norm sum, w        ==>
//
// Saves one dispatch and one round trip of `sum` per norm (2 per layer). `sum` stays an output: it
// is the residual stream the next block adds to.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass add_rms_norm() {
  enum : Var { a, b, w, sum, norm };
  return {
      .name = "add_rms_norm",
      .patterns = {{node<RmsNorm>(norm, {node<Add>(sum, {any(a), any(b)}), any(w)})}},
      .outputs = {sum, norm},
      .replace = [](Match& m) -> std::optional<Replacement> {
        if (m.type(w).shape[0] != m.type(sum).shape[1]) return std::nullopt;  // a norm per head
        return Replacement{AddRmsNorm{m.attributes<RmsNorm>(norm).eps}, {m[a], m[b], m[w]}};
      },
  };
}

}  // namespace tokamak::fuse
