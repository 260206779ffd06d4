#include "kernels/embed/positions.h"

#include <cmath>

#include "kernels/launch.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

void add_positions_reference(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = call.inputs[0].dims[1], offset = call.as<AddPositions>().offset;
  for (size_t t = 0; t < y.size() / n; ++t) {
    const std::span<float> row = y.subspan(t * n, n);
    call.inputs[1].load_row(offset + call.batch.position_of(t), row);
    for (size_t i = 0; i < n; ++i) row[i] += x[t * n + i];
  }
}

Launch add_positions_launch(const Problem& problem, const DeviceInfo&) {
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  return with_codec(single_codec(problem.inputs[1]),
                    {.constants = {{"THREADS", kMapThreads},
                                   {"COLUMNS", columns},
                                   {"OFFSET", problem.as<AddPositions>().offset}},
                     .sources = {"embed/positions.wgsl", "elementwise/map.wgsl", "wgsl/entry.wgsl"},
                     .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = {1, 1}}});
}

void position_scale_reference(const CpuCall& call) {
  const PositionScale& op = call.as<PositionScale>();
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = call.inputs[0].dims[1];
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t periods = (call.batch.position_of(i / n) + size_t{op.shift}) / op.period;
    y[i] = float((1 + double(op.beta) * std::log1p(double(periods))) * double(x[i]));
  }
}

Launch position_scale_launch(const Problem& problem, const DeviceInfo&) {
  const PositionScale& op = problem.as<PositionScale>();
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  return {.constants = {{"THREADS", kMapThreads},
                        {"COLUMNS", columns},
                        {"BETA", op.beta},
                        {"PERIOD", op.period},
                        {"SHIFT", op.shift}},
          .sources = {"embed/position_scale.wgsl", "elementwise/map.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = {1, 1}}};
}

constexpr KernelVariant kPositionsVariants[] = {
    {.name = "position_scale.wgsl",
     .op = op_index<PositionScale>(),
     .launch = position_scale_launch},
    {.name = "position_scale.cpu",
     .op = op_index<PositionScale>(),
     .backend = BackendKind::kCpu,
     .run = position_scale_reference},
    {.name = "add_positions.wgsl", .op = op_index<AddPositions>(), .launch = add_positions_launch},
    {.name = "add_positions.cpu",
     .op = op_index<AddPositions>(),
     .backend = BackendKind::kCpu,
     .run = add_positions_reference},
};

}  // namespace

std::span<const KernelVariant> position_variants() {
  return kPositionsVariants;
}

}  // namespace tokamak
