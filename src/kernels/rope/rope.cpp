#include "kernels/rope/rope.h"

#include "kernels/launch.h"

namespace tokamak {
namespace {

void rope_reference(const CpuCall& call) {
  const size_t head_dim = call.as<Rope>().head_dim, short_rows = call.as<Rope>().short_rows;
  const std::span<const float> x = call.inputs[0].f32(), table = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t columns = call.inputs[0].dims[1], d = call.inputs[1].dims[1];
  const size_t first = call.frame.position + (call.frame.length > short_rows ? short_rows : 0);
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t t = i / columns, j = i % columns % head_dim;
    const float* angles = &table[(first + t) * d];
    if (j < d / 2) {
      y[i] = x[i] * angles[j] - x[i + d / 2] * angles[j + d / 2];
    } else if (j < d) {
      y[i] = x[i] * angles[j - d / 2] + x[i - d / 2] * angles[j];
    } else {
      y[i] = x[i];
    }
  }
}

Launch rope_launch(const Problem& problem) {
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
