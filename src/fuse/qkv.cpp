// Three products of one input become one, with the rows of the three weights one after another.
//
//   q = linear x, wq                     w = concat wq, wk, wv
//   k = linear x, wk           ==>       q, k, v = qkv x, w {q_rows, k_rows}
//   v = linear x, wv
//
// Saves two dispatches per attention layer, and gives the small K and V products of grouped-query
// attention a launch that fills the device.
#include "fuse/qkv.h"

namespace tokamak::fuse {

Pass qkv() {
  enum : Var { x, wq, wk, wv, bq, bk, bv, q, k, v };
  return {
      .name = "qkv",
      .patterns = {{node<Linear>(q, {any(x), any(wq)}), node<Linear>(k, {any(x), any(wk)}),
                    node<Linear>(v, {any(x), any(wv)})},
                   {node<Linear>(q, {any(x), any(wq), any(bq)}),
                    node<Linear>(k, {any(x), any(wk), any(bk)}),
                    node<Linear>(v, {any(x), any(wv), any(bv)})}},
      .outputs = {q, k, v},
      .replace = [](Match& m) -> std::optional<Replacement> {
        const auto w = m.join_rows({wq, wk, wv}, RowOrder::kConcat, "qkv");
        if (!w) return std::nullopt;
        const Qkv op{uint32_t(m.type(wq).shape[0]), uint32_t(m.type(wk).shape[0])};
        Replacement r{op, {m[x], *w}};
        if (m.has(bq)) {
          const auto bias = m.join_rows({bq, bk, bv}, RowOrder::kConcat, "qkv");
          if (!bias) return std::nullopt;
          r.inputs.push_back(*bias);
        }
        return r;
      },
  };
}

}  // namespace tokamak::fuse
