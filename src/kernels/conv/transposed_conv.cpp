#include "kernels/conv/transposed_conv.h"

#include "kernels/launch.h"

namespace tokamak {
namespace {

void transposed_conv_reference(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32(), w = call.inputs[1].f32();
  const std::span<const float> bias = call.inputs[2].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = call.inputs[0].dims[1], taps = call.inputs[1].dims[1], rate = taps / 2;
  const size_t out = bias.size(), group = n / out;
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    const bool has_before = t > call.batch.slot_of(t).start;
    for (size_t i = 0; i < rate * out; ++i) {
      const size_t p = i / out, j = i % out;
      double sum = bias[j];
      for (size_t c = j * group; c < (j + 1) * group; ++c) {
        sum += double(w[c * taps + p]) * x[t * n + c];
        if (has_before) sum += double(w[c * taps + p + rate]) * x[(t - 1) * n + c];
      }
      y[t * rate * out + i] = float(sum);
    }
  }
}

Launch transposed_conv_launch(const Problem& problem, const DeviceInfo&) {
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  const auto out = uint32_t(problem.inputs[2].shape[0]);
  return {.constants = {{"THREADS", kMapThreads},
                        {"COLUMNS", columns},
                        {"X_COLUMNS", uint32_t(problem.inputs[0].shape[1])},
                        {"OUT", out},
                        {"RATE", columns / out}},
          .sources = {"conv/transposed_conv.wgsl", "elementwise/map.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = {1, 1}}};
}

constexpr KernelVariant kTransposedConvVariants[] = {
    {.name = "transposed_conv.wgsl",
     .op = op_index<TransposedConv>(),
     .launch = transposed_conv_launch},
    {.name = "transposed_conv.cpu",
     .op = op_index<TransposedConv>(),
     .backend = BackendKind::kCpu,
     .run = transposed_conv_reference},
};

}  // namespace

std::span<const KernelVariant> transposed_conv_variants() {
  return kTransposedConvVariants;
}

}  // namespace tokamak
