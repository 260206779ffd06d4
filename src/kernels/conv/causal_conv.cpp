#include "kernels/conv/causal_conv.h"

#include "kernels/conv/half_snake.h"
#include "kernels/launch.h"

namespace tokamak {
namespace {

void causal_conv_reference(const CpuCall& call) {
  const CausalConv& op = call.as<CausalConv>();
  const std::span<const float> given = call.inputs[0].f32(), w = call.inputs[1].f32();
  const std::span<const float> bias = call.inputs[2].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = call.inputs[0].dims[1], out = bias.size(), taps = call.inputs[1].dims[1] / n;
  std::vector<float> x(given.begin(), given.end());
  if (op.snake) {
    const std::span<const float> rates = call.inputs[3].f32();
    for (size_t i = 0; i < x.size(); ++i) x[i] = float(half_snake(rates, i % n, x[i]));
  }
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    const size_t start = call.batch.slot_of(t).start;
    for (size_t o = 0; o < out; ++o) {
      double sum = bias[o];
      for (size_t j = 0; j < taps; ++j) {
        const size_t back = (taps - 1 - j) * op.dilation;
        if (t - start < back) continue;
        const float* const row = &x[(t - back) * n];
        for (size_t c = 0; c < n; ++c) sum += double(w[(o * n + c) * taps + j]) * row[c];
      }
      y[t * out + o] = float(op.adds ? sum + double(call.inputs[op.r()].load(t * out + o)) : sum);
    }
  }
}

constexpr uint32_t kTileRows = 64, kTileColumns = 32, kThreads = 128;
/// A row of staged weights has one vector more than there are, so that lanes which stage
/// neighbouring rows write to other banks.
constexpr uint32_t kWeightVectors = kTileColumns / 4 + 1;
/// The size that every device grants.
constexpr uint32_t kWorkgroupBytes = 16384;

uint32_t staged_rows(uint32_t taps, uint32_t dilation) {
  return kTileRows + (taps - 1) * dilation;
}

/// Bytes that one column of x takes in workgroup memory.
uint64_t column_bytes(uint32_t taps, uint32_t dilation) {
  return 4 * uint64_t{staged_rows(taps, dilation)} + 16 * uint64_t{kWeightVectors} * taps;
}

uint32_t taps_of(const Problem& problem) {
  return uint32_t(problem.inputs[1].shape[1] / problem.inputs[0].shape[1]);
}

std::string causal_conv_refuses(const Problem& problem, const DeviceInfo&) {
  const uint32_t taps = taps_of(problem), dilation = problem.as<CausalConv>().dilation;
  const uint64_t reach = uint64_t{taps - 1} * dilation;
  if (reach < kWorkgroupBytes && column_bytes(taps, dilation) <= kWorkgroupBytes) return "";
  return fmt::format("{} taps that are {} rows apart do not fit workgroup memory", taps, dilation);
}

Launch causal_conv_launch(const Problem& problem, const DeviceInfo&) {
  const CausalConv& op = problem.as<CausalConv>();
  const auto columns = uint32_t(problem.inputs[0].shape[1]);
  const auto out = uint32_t(problem.outputs[0].shape[1]);
  const uint32_t taps = taps_of(problem);
  const auto fitting = uint32_t(kWorkgroupBytes / column_bytes(taps, op.dilation));
  const uint32_t block = power_of_two(std::min(fitting, columns), 1, 16);
  std::vector<std::string> sources;
  std::vector<Constant> constants;
  if (op.snake) constants.push_back({"SNAKES", columns / 2});
  if (op.snake) sources.assign({"conv/snake_rates_3.wgsl", kHalfSnakeSource});
  sources.emplace_back(op.snake ? "conv/snake_input.wgsl" : "conv/plain_input.wgsl");
  sources.emplace_back(!op.adds   ? "conv/no_sum.wgsl"
                       : op.snake ? "conv/sum_4.wgsl"
                                  : "conv/sum_3.wgsl");
  sources.insert(sources.end(), {"conv/causal_conv.wgsl", "wgsl/entry.wgsl"});
  constants.insert(constants.end(), {{"THREADS", kThreads},
                                     {"X_COLUMNS", columns},
                                     {"COLUMNS", out},
                                     {"TAPS", taps},
                                     {"DILATION", op.dilation},
                                     {"TILE_ROWS", kTileRows},
                                     {"TILE_COLUMNS", kTileColumns},
                                     {"BLOCK", block},
                                     {"STAGED_ROWS", staged_rows(taps, op.dilation)},
                                     {"WEIGHT_VECTORS", kWeightVectors}});
  return {.constants = std::move(constants),
          .sources = std::move(sources),
          .grid = {.x = {ceil_div(out, kTileColumns)}, .y = {1, kTileRows, true}}};
}

constexpr KernelVariant kCausalConvVariants[] = {
    {.name = "causal_conv.wgsl",
     .op = op_index<CausalConv>(),
     .refuses = causal_conv_refuses,
     .launch = causal_conv_launch},
    {.name = "causal_conv.cpu",
     .op = op_index<CausalConv>(),
     .backend = BackendKind::kCpu,
     .run = causal_conv_reference},
};

}  // namespace

std::span<const KernelVariant> causal_conv_variants() {
  return kCausalConvVariants;
}

}  // namespace tokamak
