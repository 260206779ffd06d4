#include "kernels/conv/unfold.h"

#include "kernels/launch.h"
#include "kernels/rows.h"

namespace tokamak {

void unfold_row(const CpuCall& call, size_t t) {
  const Unfold& op = call.as<Unfold>();
  const std::span<const float> x = call.inputs[0].f32();
  const size_t rows = call.inputs[0].dims[0], n = call.inputs[0].dims[1];
  const std::span<float> y = row_of(call.outputs[0], t);
  const size_t first = size_t{op.stride} * call.batch.position_of(t);
  for (size_t j = 0; j < op.taps; ++j) {
    const size_t row = first + j;  // and pad more
    const bool is_there = row >= op.pad && row - op.pad < rows;
    for (size_t c = 0; c < n; ++c) {
      y[c * op.taps + j] = is_there ? x[(row - op.pad) * n + c] : 0;
    }
  }
}

namespace {

Launch unfold_launch(const Problem& problem, const DeviceInfo&) {
  const Unfold& op = problem.as<Unfold>();
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  return {.constants = {{"THREADS", kMapThreads},
                        {"COLUMNS", columns},
                        {"ROWS", uint32_t(problem.inputs[0].shape[0])},
                        {"TAPS", op.taps},
                        {"STRIDE", op.stride},
                        {"PAD", op.pad}},
          .sources = {"conv/unfold.wgsl", "elementwise/map.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = {1, 1}}};
}

constexpr KernelVariant kUnfoldVariants[] = {
    {.name = "unfold.wgsl", .op = op_index<Unfold>(), .launch = unfold_launch},
    {.name = "unfold.cpu",
     .op = op_index<Unfold>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<unfold_row>},
};

}  // namespace

std::span<const KernelVariant> unfold_variants() {
  return kUnfoldVariants;
}

}  // namespace tokamak
