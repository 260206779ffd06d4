#include "kernels/rope/rope.h"

#include "kernels/launch.h"

namespace tokamak {

void rotate(std::span<float> head, std::span<const float> angles) {
  const size_t half = angles.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    const float a = head[i], b = head[i + half];
    head[i] = a * angles[i] - b * angles[half + i];
    head[i + half] = b * angles[i] + a * angles[half + i];
  }
}

std::span<const float> angles_of(const CpuTensor& table, const BatchView& batch, size_t short_rows,
                                 size_t row) {
  const size_t first = batch.slot_of(row).length > short_rows ? short_rows : 0;
  return table.f32().subspan((first + batch.position_of(row)) * table.dims[1], table.dims[1]);
}

namespace {

void rope_reference(const CpuCall& call) {
  const size_t head_dim = call.as<Rope>().head_dim, short_rows = call.as<Rope>().short_rows;
  const std::span<float> y = call.outputs[0].f32();
  std::ranges::copy(call.inputs[0].f32(), y.begin());
  const size_t columns = call.inputs[0].dims[1];
  for (size_t start = 0; start < y.size(); start += head_dim) {
    rotate(y.subspan(start, head_dim),
           angles_of(call.inputs[1], call.batch, short_rows, start / columns));
  }
}

Launch rope_launch(const Problem& problem, const DeviceInfo&) {
  const uint32_t columns = uint32_t(problem.inputs[0].shape[1]);
  return {.constants = {{"THREADS", kMapThreads},
                        {"COLUMNS", columns},
                        {"HEAD_DIM", problem.as<Rope>().head_dim},
                        {"SHORT_ROWS", problem.as<Rope>().short_rows},
                        {"ROTARY", uint32_t(problem.inputs[1].shape[1])}},
          .sources = {"rope/rope.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = {1, 1}}};
}

constexpr KernelVariant kVariants[] = {
    {.name = "rope.wgsl", .op = op_index<Rope>(), .launch = rope_launch},
    {.name = "rope.cpu",
     .op = op_index<Rope>(),
     .backend = BackendKind::kCpu,
     .reference = rope_reference},
};

}  // namespace

std::span<const KernelVariant> rope_variants() {
  return kVariants;
}

}  // namespace tokamak
