// All between the projections of attention, for one token, in one kernel.
//
//   q, k, v = qkv x, w                          row      = linear x, w
//   q = rms_norm q, wq     k = rms_norm ...     y, cache = step_attention row, table, cache, pages,
//   q = rope q, table      k = rope ...    ==>                            wq|wk
//   cache = kv_append k, v, cache, pages
//   y = attention q, cache, pages
//
// and without the norms, where values are keys before their norm, or for queries alone that read
// the cache of another layer. A fourth part of the row, which gates the result, stays columns of
// it. Saves up to six dispatches per layer.
#include "fuse/passes.h"
#include "graph/kv_cache.h"

namespace tokamak::fuse {
namespace {

enum : Var { x, w, q, k, v, g, wq, wk, wv, nq, nk, nv, rq, rk, table, cache, pages, appended, y };

/// The row that has queries, keys and values, and in it what gates the result.
std::optional<ValueId> whole_row(Match& m) {
  if (!m.has(w)) {
    const Node* made = m.maker({q, k, v});
    if (made == nullptr || !std::holds_alternative<Qkv>(made->op)) return std::nullopt;
    return m.add_node(Linear{}, made->inputs).front();
  }
  const ValueId row = m.add_node(Linear{}, {m[x], m[w]}).front();
  if (m.has(g)) {
    const uint32_t gates = uint32_t(m.type(g).shape[1]), all = uint32_t(m.type(w).shape[0]);
    m.add_node(Columns{all - gates, gates}, {row}, {{0, g}});
  }
  return row;
}

std::optional<Replacement> replace_step_attention(Match& m) {
  const auto& attention = m.attributes<Attention>(y);
  const uint32_t head_dim = uint32_t(cached_head_dim(m.type(cache).dtype, m.type(cache).shape));
  const auto& rope = m.attributes<Rope>(rq);
  // The kernel finds a row's angles by its position.
  if (m.type(table).shape[0] == kTokens) return std::nullopt;
  if (!attention.causal || head_dim % StepAttention::kPart != 0 ||
      head_dim > StepAttention::kMaxHeadDim || rope.head_dim != head_dim) {
    return std::nullopt;
  }
  StepAttention op{.heads = uint32_t(m.type(q).shape[1]) / head_dim,
                   .appends = m.has(appended),
                   .k_is_v = m.has(appended) && !m.has(v),
                   .norm_v = m.has(nv),
                   .scale = attention.scale,
                   .window = attention.window,
                   .chunks = attention.chunks,
                   .softcap = attention.softcap,
                   .short_rows = rope.short_rows};
  std::optional<ValueId> norms;
  if (m.has(nq)) {
    op.eps = m.attributes<RmsNorm>(nq).eps;
    if (m.type(wq).shape[0] != Dim{head_dim}) return std::nullopt;
    norms = m[wq];
  }
  std::optional<ValueId> row = m[q];
  if (op.appends) {
    if (m.attributes<Rope>(rk) != rope) return std::nullopt;
    if (op.norm_v && (!is_ones(m.type(wv)) || m.type(wv).shape[0] != Dim{head_dim} ||
                      m.attributes<RmsNorm>(nv).eps != op.eps)) {
      return std::nullopt;
    }
    if (norms) {
      if (m.attributes<RmsNorm>(nk).eps != op.eps) return std::nullopt;
      norms = m.join_rows({wq, wk}, RowOrder::kConcat, "heads");
      if (!norms) return std::nullopt;
    }
    row = whole_row(m);
    if (!row) return std::nullopt;
  }
  std::vector<ValueId> inputs = {*row, m[table], m[cache], m[pages]};
  if (norms) inputs.push_back(*norms);
  return Replacement{op, std::move(inputs)};
}

enum class Row : uint8_t { kQueries, kThree, kTwo, kFour };

/// Queries and keys with or without norms, values too, and what is in the row.
struct Form {
  Row row;
  bool norms, norm_v;
};

Pattern queries_of(Row row) {
  switch (row) {
    case Row::kTwo:
      return node<Qkv>(q, {any(x), any(w)}, {k});
    case Row::kFour:
      return node<Qkv>(q, {any(x), any(w)}, {k, v, g});
    case Row::kQueries:
    case Row::kThree:
      break;
  }
  return any(q);
}

Pattern attention_of(const Form& form) {
  const Pattern raw = queries_of(form.row);
  const Pattern query =
      node<Rope>(rq, {form.norms ? node<RmsNorm>(nq, {raw, any(wq)}) : raw, any(table)});
  if (form.row == Row::kQueries) return node<Attention>(y, {query, any(cache), any(pages)});
  const Pattern key =
      node<Rope>(rk, {form.norms ? node<RmsNorm>(nk, {any(k), any(wk)}) : any(k), any(table)});
  const Var values = form.row == Row::kTwo ? k : v;
  const Pattern value = form.norm_v ? node<RmsNorm>(nv, {any(values), any(wv)}) : any(values);
  return node<Attention>(
      y, {query, node<KvAppend>(appended, {key, value, any(cache), any(pages)}), any(pages)});
}

}  // namespace

Pass step_attention() {
  std::vector<std::vector<Pattern>> patterns;
  for (const Row row : {Row::kFour, Row::kThree, Row::kTwo}) {
    patterns.push_back({attention_of({row, true, true})});
    patterns.push_back({attention_of({row, true, false})});
    patterns.push_back({attention_of({row, false, false})});
  }
  patterns.push_back({attention_of({Row::kQueries, true, false})});
  patterns.push_back({attention_of({Row::kQueries, false, false})});
  return {.name = "step_attention",
          .patterns = std::move(patterns),
          .outputs = {y, appended, g},
          .steps = Steps::kDecode,
          .replace = replace_step_attention};
}

}  // namespace tokamak::fuse
