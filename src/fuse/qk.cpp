// Two products of one input where attention has one for keys and values: as qkv.
//
//   q = linear x, wq
//   k = linear x, wk      ==>      q, k = qkv x, w {q_rows, k_rows}
//
// Saves a launch that has few rows for a large device.
#include "fuse/passes.h"

namespace tokamak::fuse {

Pass qk() {
  enum : Var { x, wq, wk, q, k, wn, wv, nk, nv, rk, table, cache, pages, appended };
  const Pattern key = node<Linear>(k, {any(x), any(wk)});
  return {
      .name = "qk",
      .patterns = {{node<Linear>(q, {any(x), any(wq)}),
                    node<KvAppend>(
                        appended, {node<Rope>(rk, {node<RmsNorm>(nk, {key, any(wn)}), any(table)}),
                                   node<RmsNorm>(nv, {any(k), any(wv)}), any(cache), any(pages)})}},
      .outputs = {q, k},
      .shared = {nk, nv, rk, appended},
      .replace = [](Match& m) -> std::optional<Replacement> {
        if (m[q] == m[k]) return std::nullopt;
        const auto w = m.join_rows({wq, wk}, RowOrder::kConcat, "qk");
        if (!w) return std::nullopt;
        const Qkv op{uint32_t(m.type(wq).shape[0]), uint32_t(m.type(wk).shape[0])};
        return Replacement{op, {m[x], *w}};
      },
  };
}

}  // namespace tokamak::fuse
