// The nodes between the products of attention and attention itself, in one kernel.
//
//   q, k, v = qkv x, w
//   q = rms_norm q, wq
//   k = rms_norm k, wk
//   v = rms_norm v, ones
//   q = rope q, table
//   k = rope k, table
//   cache = kv_append k, v, cache, pages
//   y = attention q, cache, pages
// becomes
//   row = linear x, w
//   q, cache = rope_append row, table, cache, pages, wq|wk
//   y = attention q, cache, pages
//
// Without the norms, or those of values, where there are none, where values are keys before their
// norm, and of queries alone that are normed and read the cache of another layer. Saves up to five
// dispatches per layer, and a round trip of q, k and v for each; where a library multiplies, two
// products more. Steps of few rows have step_attention.
#include "fuse/passes.h"
#include "graph/kv_cache.h"

namespace tokamak::fuse {
namespace {

enum : Var { q, k, v, wq, wk, wv, nq, nk, nv, rq, rk, table, cache, pages, ends, appended, y };

bool in_parts(Dim columns) {
  return columns > 0 && columns % RopeAppend::kPart == 0;
}

/// The row of queries, keys and values, of one product.
std::optional<ValueId> whole_row(Match& m) {
  const Node* made = m.has(v) ? m.maker({q, k, v}) : m.maker({q, k});
  if (made == nullptr || !std::holds_alternative<Qkv>(made->op)) return std::nullopt;
  return m.add_node(Linear{}, made->inputs).front();
}

std::optional<Replacement> replace_rope_append(Match& m) {
  const auto& rope = m.attributes<Rope>(rq);
  const Dim d = rope.head_dim;
  // The kernel finds a row's angles by its position.
  if (m.type(table).shape[0] == kTokens || !in_parts(m.type(table).shape[1]) || !in_parts(d) ||
      d > RopeAppend::kMaxHeadDim) {
    return std::nullopt;
  }
  RopeAppend op{.heads = uint32_t(m.type(q).shape[1] / d),
                .head_dim = rope.head_dim,
                .short_rows = rope.short_rows,
                .appends = m.has(appended),
                .k_is_v = m.has(appended) && !m.has(v),
                .norm_v = m.has(nv)};
  std::optional<ValueId> norms, row = m[q];
  if (m.has(nq)) {
    op.eps = m.attributes<RmsNorm>(nq).eps;
    if (m.type(wq).shape[0] != d) return std::nullopt;
    norms = m[wq];
  }
  if (op.appends) {
    const TensorDesc& held = m.type(cache);
    if (m.attributes<Rope>(rk) != rope || cached_head_dim(held.dtype, held.shape) != d) {
      return std::nullopt;
    }
    if (op.norm_v && (!is_ones(m.type(wv)) || m.type(wv).shape[0] != d ||
                      m.attributes<RmsNorm>(nv).eps != op.eps)) {
      return std::nullopt;
    }
    if (norms) {
      if (m.attributes<RmsNorm>(nk).eps != op.eps || m.type(wk).shape[0] != d) return std::nullopt;
      norms = m.join_rows({wq, wk}, RowOrder::kConcat, "heads");
      if (!norms) return std::nullopt;
    }
    row = whole_row(m);
    if (!row) return std::nullopt;
  }
  std::vector<ValueId> inputs = {*row, m[table]};
  if (op.appends) inputs.insert(inputs.end(), {m[cache], m[pages]});
  if (norms) inputs.push_back(*norms);
  return Replacement{op, std::move(inputs)};
}

Pattern turned(Var out, Var norm, Var raw, Var weight, bool normed) {
  return node<Rope>(out,
                    {normed ? node<RmsNorm>(norm, {any(raw), any(weight)}) : any(raw), any(table)});
}

/// Attention as it is, over queries and a cache; images have the ends of what they see.
void add_attention(std::vector<std::vector<Pattern>>& all, const Pattern& query,
                   const Pattern& held) {
  all.push_back({node<Attention>(y, {query, held, any(pages)})});
  all.push_back({node<Attention>(y, {query, held, any(pages), any(ends)})});
}

}  // namespace

Pass rope_append() {
  Pass pass = {.name = "rope_append",
               .patterns = {},
               .outputs = {rq, appended},
               .shared = {y},
               .replace = replace_rope_append};
  struct Form {
    Var values;
    bool norms, norm_v;
  };
  for (const Form form : {Form{v, true, true}, Form{v, true, false}, Form{v, false, false},
                          Form{k, true, true}, Form{k, true, false}}) {
    const Pattern value =
        form.norm_v ? node<RmsNorm>(nv, {any(form.values), any(wv)}) : any(form.values);
    const Pattern appends = node<KvAppend>(
        appended, {turned(rk, nk, k, wk, form.norms), value, any(cache), any(pages)});
    add_attention(pass.patterns, turned(rq, nq, q, wq, form.norms), appends);
  }
  add_attention(pass.patterns, turned(rq, nq, q, wq, true), any(cache));
  return pass;
}

}  // namespace tokamak::fuse
