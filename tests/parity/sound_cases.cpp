// Cases of what models that hear have beside the ops of others.
#include <cmath>

#include "cases.h"
#include "graph/kv_cache.h"
#include "steps.h"

namespace tokamak::parity {

std::vector<Case> unfold_cases() {
  struct Shape {
    uint32_t rows, columns;
    Unfold op;
  };
  // What is read ends within the steps, or goes on after them.
  const Shape shapes[] = {{1, 1, {.taps = 1}},
                          {40, 3, {.taps = 3, .pad = 1}},
                          {700, 5, {.taps = 7, .stride = 3}},
                          {90, 64, {.taps = 5, .stride = 2, .pad = 4}},
                          {3000, 1, {.taps = 127, .stride = 9, .pad = 2}}};
  std::vector<Case> all;
  for (const Shape& shape : shapes) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("unfold {}x{} taps {} stride {} pad {} {}", shape.rows,
                                shape.columns, shape.op.taps, shape.op.stride, shape.op.pad,
                                label(steps)));
      const ValueId x = b.random("x", {shape.rows, shape.columns});
      all.push_back(b.finish(b.graph().unfold(x, shape.op), steps, kExact));
    }
  }
  return all;
}

std::vector<Case> group_norm_cases() {
  std::vector<Case> all;
  for (const uint32_t columns : {1u, 7u, 64u, 300u}) {
    for (const Steps& steps : {kOneByOne, kChunks}) {
      CaseBuilder b(fmt::format("group_norm {} {}", columns, label(steps)));
      const ValueId x = b.activation(columns, 3);
      const ValueId w = b.random("w", {columns}), bias = b.random("bias", {columns});
      all.push_back(b.finish(b.graph().group_norm(x, w, bias, 1e-3f), steps, kSum));
    }
  }
  return all;
}

Case cross_attention_case(DType cache_type, const Steps& steps, uint32_t end) {
  constexpr uint32_t kHeads = 4, kHeadDim = 32;
  CaseBuilder b(fmt::format("attention {}x{} {} to the first {} {}", kHeads, kHeadDim,
                            cache_type_name(cache_type), end, label(steps)));
  uint32_t positions = 0, slots = 0;
  for (const uint32_t chunk : steps.chunks) positions += chunk;
  const ValueId pages = b.pages(positions, 0, slots);
  const ValueId cache =
      b.graph().state("cache", cache_shape(cache_type, slots, kHeads, kHeadDim), cache_type);
  const uint32_t columns = kHeads * kHeadDim;
  const ValueId q = b.activation(columns), k = b.activation(columns), v = b.activation(columns);
  const ValueId kv = b.graph().kv_append(k, v, cache, pages);
  const Attention op{.scale = 1 / std::sqrt(float(kHeadDim)), .causal = false};
  const ValueId y = b.graph().attention(q, kv, pages, op, b.ends(end));
  return b.finish(y, steps, attention_tolerance(cache_type));
}

}  // namespace tokamak::parity
