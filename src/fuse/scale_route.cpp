// A factor on the logits of a router becomes the router's own.
//
//   s = scale logits {factor=f}
//   shares, chosen = route s         ==>      shares, chosen = route logits {factor=f}
//
// Saves a dispatch per layer.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass scale_route() {
  enum : Var { x, s, first, second, shares, chosen };
  const Pattern logits = node<Scale>(s, {any(x)});
  return {
      .name = "scale_route",
      .patterns = {{node<Route>(shares, {logits}, {chosen})},
                   {node<Route>(shares, {logits, any(first)}, {chosen})},
                   {node<Route>(shares, {logits, any(first), any(second)}, {chosen})}},
      .outputs = {shares, chosen},
      .replace = [](Match& m) -> std::optional<Replacement> {
        Route op = m.attributes<Route>(shares);
        op.factor *= m.attributes<Scale>(s).factor;
        if (!(op.factor > 0)) return std::nullopt;
        Replacement replacement{op, {m[x]}};
        for (const Var extra : {first, second}) {
          if (m.has(extra)) replacement.inputs.push_back(m[extra]);
        }
        return replacement;
      },
  };
}

}  // namespace tokamak::fuse
