// Rows of the variant tables for attention, by attention.h.
#include <algorithm>

#include "kernels/attention/rope_append.h"
#include "kernels/attention/step_attention.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/variants.h"
#include "kernels/library/library.h"

namespace tokamak {
namespace {

/// Row t of an Attention, and the positions that it sees.
AttentionRow seen_by(const CpuCall& call, size_t t) {
  return {.queries = call.inputs[0].f32().data() + t * call.inputs[0].dims[1],
          .pages = pages_of(call, call.inputs[2], t),
          .begin = first_seen(call, t),
          .end = end_seen(call, t),
          .position = call.batch.position_of(t)};
}

void attention(const CpuCall& call) {
  const Attention& op = call.as<Attention>();
  const CpuTensor& cache = call.inputs[1];
  AttentionWork work{.cache = &cache,
                     .heads = call.inputs[0].dims[1] / head_dim_of(cache),
                     .scale = op.scale,
                     .softcap = op.softcap,
                     .divides_keys = call.max_rows <= kFewRows};
  if (call.inputs.size() == 4 && !attention_has_ends(call)) {
    (call.inputs[3].dims.size() == 1 ? work.sinks : work.bias) = call.inputs[3].f32();
  }
  std::vector<AttentionRow> rows;
  for (size_t t = 0; t < call.batch.rows(); ++t) rows.push_back(seen_by(call, t));
  const CpuTensor& y = call.outputs[0];
  if (y.dtype == DType::kF32) return attend_rows(*call.pool, work, rows, y.f32());
  std::vector<float> whole(rows.size() * call.inputs[0].dims[1]);
  attend_rows(*call.pool, work, rows, whole);
  for (size_t i = 0; i < whole.size(); ++i) store_half(y, i, whole[i]);
}

/// Splits are for devices with idle multiprocessors: the first one has everything here.
void step_attention(const CpuCall& call) {
  const auto& op = call.as<StepAttention>();
  const StepAttentionCache cache = step_attention_cache(call);
  const size_t d = head_dim_of(cache.cells), columns = op.heads * d, splits = op.splits;
  const size_t count = call.batch.rows();
  std::vector<float> queries(count * columns), sums(splits == 1 ? 0 : count * columns);
  std::vector<AttentionTotals> totals(splits == 1 ? 0 : count * op.heads);
  call.pool->run(count, [&](size_t first, size_t last) {
    for (size_t t = first; t < last; ++t) {
      prepare_step_attention(call, t, std::span(queries).subspan(t * columns, columns));
    }
  });
  std::vector<AttentionRow> rows;
  for (size_t t = 0; t < count; ++t) {
    const size_t position = call.batch.position_of(t);
    rows.push_back({.queries = queries.data() + t * columns,
                    .pages = pages_of(call, cache.pages, t),
                    .begin = first_seen(position, op.window, op.chunks),
                    .end = position + 1,
                    .position = position});
  }
  const AttentionWork work{.cache = &cache.cells,
                           .heads = op.heads,
                           .scale = op.scale,
                           .softcap = op.softcap,
                           .divides_keys = call.max_rows <= kFewRows};
  const std::span<float> y = call.outputs[0].f32();
  if (splits == 1) return attend_rows(*call.pool, work, rows, y);
  attend_rows(*call.pool, work, rows, sums, totals);
  const size_t all = call.outputs[0].dims[1];
  for (size_t t = 0; t < count; ++t) {
    const std::span<float> row = y.subspan(t * all, all);
    std::ranges::fill(row, 0.0f);
    std::copy_n(sums.begin() + std::ptrdiff_t(t * columns), columns, row.begin());
    for (size_t i = 0; i < splits * op.heads; ++i) {
      const AttentionTotals none{-3e38f, 0};
      const AttentionTotals own = i < op.heads ? totals[t * op.heads + i] : none;
      row[splits * columns + 2 * i] = own.largest;
      row[splits * columns + 2 * i + 1] = own.total;
    }
  }
}

void rope_append(const CpuCall& call) {
  call.pool->run(call.batch.rows(),
                 [&](size_t first, size_t last) { rope_append_rows(call, first, last); });
}

constexpr KernelVariant kVariants[] = {
    vector_row<RopeAppend>("rope_append.cpu.vectors", rope_append),
    vector_row<Attention>("attention.cpu.vectors", attention),
    vector_row<StepAttention>("step_attention.cpu.vectors", step_attention),
};

}  // namespace

std::span<const KernelVariant> vector_attention_variants() {
  return kVariants;
}

}  // namespace tokamak
