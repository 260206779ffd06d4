#include "kernels/embed/positions.h"

#include <cmath>

#include "kernels/launch.h"
#include "kernels/quant/codec.h"
#include "kernels/rows.h"

namespace tokamak {

void add_positions_row(const CpuCall& call, size_t t) {
  const std::span<const float> x = row_of(call.inputs[0], t);
  const std::span<float> y = row_of(call.outputs[0], t);
  call.inputs[1].load_row(call.as<AddPositions>().offset + call.batch.position_of(t), y);
  for (size_t c = 0; c < y.size(); ++c) y[c] += x[c];
}

void position_scale_row(const CpuCall& call, size_t t) {
  const PositionScale& op = call.as<PositionScale>();
  const std::span<const float> x = row_of(call.inputs[0], t);
  const std::span<float> y = row_of(call.outputs[0], t);
  const size_t periods = (call.batch.position_of(t) + size_t{op.shift}) / op.period;
  const double factor = 1 + double(op.beta) * std::log1p(double(periods));
  for (size_t c = 0; c < y.size(); ++c) y[c] = float(factor * double(x[c]));
}

namespace {

Launch add_positions_launch(const Problem& problem, const DeviceInfo&) {
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  return with_codec(single_codec(problem.inputs[1]),
                    {.constants = {{"THREADS", kMapThreads},
                                   {"COLUMNS", columns},
                                   {"OFFSET", problem.as<AddPositions>().offset}},
                     .sources = {"embed/positions.wgsl", "elementwise/map.wgsl", "wgsl/entry.wgsl"},
                     .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = {1, 1}}});
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
     .run = row_by_row<position_scale_row>},
    {.name = "add_positions.wgsl", .op = op_index<AddPositions>(), .launch = add_positions_launch},
    {.name = "add_positions.cpu",
     .op = op_index<AddPositions>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<add_positions_row>},
};

}  // namespace

std::span<const KernelVariant> position_variants() {
  return kPositionsVariants;
}

}  // namespace tokamak
