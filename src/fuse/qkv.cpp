// Three products of one input, or four where attention has a gate, become one, with the rows of the
// weights one after another.
//
//   q = linear x, wq                     w = concat wq, wk, wv
//   k = linear x, wk           ==>       q, k, v = qkv x, w {q_rows, k_rows, v_rows=0}
//   v = linear x, wv
//
// Saves two or three dispatches per attention layer, and gives the small K and V products of
// grouped-query attention a launch that fills the device.
#include "fuse/passes.h"

namespace tokamak::fuse {
namespace {

enum : Var { x, wq, wk, wv, wg, bq, bk, bv, q, k, v, g };

uint32_t rows(const TensorDesc& matrix) {
  return uint32_t(matrix.shape[0]);
}

std::optional<Replacement> replace_qkv(Match& m) {
  Qkv op{rows(m.type(wq)), rows(m.type(wk))};
  std::optional<ValueId> w;
  if (m.has(g)) {
    op.v_rows = rows(m.type(wv));
    w = m.join_rows({wq, wk, wv, wg}, RowOrder::kConcat, "qkv");
  } else {
    w = m.join_rows({wq, wk, wv}, RowOrder::kConcat, "qkv");
  }
  if (!w) return std::nullopt;
  Replacement r{op, {m[x], *w}};
  if (m.has(bq)) {
    const auto bias = m.join_rows({bq, bk, bv}, RowOrder::kConcat, "qkv");
    if (!bias) return std::nullopt;
    r.inputs.push_back(*bias);
  }
  return r;
}

Pattern product(Var y, Var w) {
  return node<Linear>(y, {any(x), any(w)});
}
Pattern product(Var y, Var w, Var bias) {
  return node<Linear>(y, {any(x), any(w), any(bias)});
}

}  // namespace

Pass qkv() {
  return {.name = "qkv",
          .patterns = {{product(q, wq), product(k, wk), product(v, wv), product(g, wg)},
                       {product(q, wq), product(k, wk), product(v, wv)},
                       {product(q, wq, bq), product(k, wk, bk), product(v, wv, bv)}},
          .outputs = {q, k, v, g},
          .replace = replace_qkv};
}

}  // namespace tokamak::fuse
