#include "kernels/conv/half_snake.h"

#include <cmath>

#include "kernels/launch.h"

namespace tokamak {
namespace {

void half_snake_reference(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32(), rates = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = call.inputs[0].dims[1];
  for (size_t i = 0; i < y.size(); ++i) y[i] = float(half_snake(rates, i % n, x[i]));
}

Launch half_snake_launch(const Problem& problem, const DeviceInfo&) {
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  return {.constants = {{"THREADS", kMapThreads}, {"COLUMNS", columns}, {"SNAKES", columns / 2}},
          .sources = {"conv/snake_rates_1.wgsl", kHalfSnakeSource, "conv/snake_values.wgsl",
                      "elementwise/map.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = {1, 1}}};
}

constexpr KernelVariant kHalfSnakeVariants[] = {
    {.name = "half_snake.wgsl", .op = op_index<HalfSnake>(), .launch = half_snake_launch},
    {.name = "half_snake.cpu",
     .op = op_index<HalfSnake>(),
     .backend = BackendKind::kCpu,
     .run = half_snake_reference},
};

}  // namespace

std::span<const KernelVariant> half_snake_variants() {
  return kHalfSnakeVariants;
}

double half_snake(std::span<const float> rates, size_t column, double x) {
  if (column >= rates.size()) return x < 0 ? 0.01 * x : x;
  const double rate = rates[column], sine = std::sin(rate * x);
  return x + sine * sine / (rate + 1e-9);
}

}  // namespace tokamak
