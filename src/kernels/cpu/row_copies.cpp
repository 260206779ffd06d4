// Rows of the variant tables for what moves or scales elements, row by row as the references do, on
// all threads.
#include <algorithm>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/conv/unfold.h"
#include "kernels/cpu/arrays.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/variants.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/embed/positions.h"
#include "kernels/latent/latent.h"
#include "kernels/rope/rope.h"

namespace tokamak {
namespace {

/// Rows that are appended to a cache, of `columns` elements each.
template <RowFunction kAppend>
void append_rows(const CpuCall& call) {
  const size_t columns = call.inputs[0].dims[1] + call.inputs[1].dims[1];
  over_parts(call, call.batch.rows(), 4 * columns, [&](size_t t) { kAppend(call, t); });
}

/// Sums of columns over the rows of each sequence, some columns a piece.
void mean_rows(const CpuCall& call) {
  constexpr size_t kStrip = 128;
  const std::span<const float> x = call.inputs[0].f32();
  const size_t columns = call.inputs[0].dims[1], strips = ceil_div(columns, kStrip);
  const size_t slots = call.batch.slots();
  over_parts(call, slots * strips, call.batch.rows() / slots * kStrip, [&](size_t part) {
    const Slot& slot = call.batch.slot(part / strips);
    const size_t first = part % strips * kStrip, count = std::min(columns - first, kStrip);
    std::vector<double> sums(count);
    for (size_t t = slot.start; t < slot.start + slot.count; ++t) {
      for (size_t c = 0; c < count; ++c) sums[c] += double(x[t * columns + first + c]);
    }
    for (size_t c = 0; c < count; ++c) {
      row_of(call.outputs[0], part / strips)[first + c] = float(sums[c] / slot.count);
    }
  });
}

constexpr KernelVariant kVariants[] = {
    vector_row<Scale>("scale.cpu.threads", in_rows<scale_row>),
    vector_row<Clamp>("clamp.cpu.threads", in_rows<clamp_row>),
    vector_row<Standardize>("standardize.cpu.threads", in_rows<standardize_row>),
    vector_row<Columns>("columns.cpu.threads", in_rows<columns_row>),
    vector_row<GatherColumns>("gather_columns.cpu.threads", in_rows<gather_columns_row>),
    vector_row<AddPositions>("add_positions.cpu.threads", in_rows<add_positions_row>),
    vector_row<PositionScale>("position_scale.cpu.threads", in_rows<position_scale_row>),
    vector_row<Unfold>("unfold.cpu.threads", in_rows<unfold_row>),
    vector_row<KvAppend>("kv_append.cpu.threads", append_rows<kv_append_row>),
    vector_row<LatentAppend>("latent_append.cpu.threads", append_rows<latent_append_row>),
    with_refusal(vector_row<Rope>("rope.cpu.threads", in_rows<rope_row, 4>), angles_table_refuses),
    with_refusal(vector_row<Rope>("rope.cpu.own_angles_threads", in_rows<rope_own_angles_row, 4>),
                 own_angles_refuse),
    vector_row<MeanRows>("mean_rows.cpu.threads", mean_rows),
};

}  // namespace

std::span<const KernelVariant> vector_copy_variants() {
  return kVariants;
}

}  // namespace tokamak
