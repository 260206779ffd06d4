#include "kernels/conv/short_conv.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/launch.h"

namespace tokamak {
namespace {

void short_conv_reference(const CpuCall& call) {
  const std::span<const float> given = call.inputs[0].f32(), w = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t tokens = call.batch.rows(), n = call.inputs[1].dims[0], k = call.inputs[1].dims[1];
  const ShortConv& op = call.as<ShortConv>();
  std::vector<float> x(given.begin(), given.end()), after(tokens * n, 1.0f);
  if (op.gated) {
    x.resize(tokens * n);
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t row = i / n * 3 * n, c = i % n;
      x[i] = given[row + c] * given[row + 2 * n + c];
      after[i] = given[row + n + c];
    }
  }
  for (uint32_t s = 0; s < call.batch.slots(); ++s) {
    const Slot& slot = call.batch.slot(s);
    const std::span<float> state = call.outputs[1].of_slot(slot.index).f32();
    // The rows before the step, then those of the step.
    std::vector<float> rows(state.begin(), state.end());
    if (slot.position == 0) rows.assign(rows.size(), 0.0f);
    const auto own = std::span(x).subspan(slot.start * n, slot.count * n);
    rows.insert(rows.end(), own.begin(), own.end());
    for (size_t t = 0; t < slot.count; ++t) {
      for (size_t c = 0; c < n; ++c) {
        double sum = call.inputs.size() == 3 ? double(call.inputs[2].load(c)) : 0.0;
        for (size_t j = 0; j < k; ++j) sum += double(w[c * k + j]) * rows[(t + j) * n + c];
        const size_t at = (slot.start + t) * n + c;
        y[at] = after[at] * float(activate(op.activation, sum));
      }
    }
    std::copy_n(rows.end() - std::ptrdiff_t(state.size()), state.size(), state.begin());
  }
}

Launch short_conv_launch(const Problem& problem, const DeviceInfo&) {
  constexpr uint32_t kTokens = 16;  // of one lane
  constexpr uint32_t kAtOnce = 8;
  const uint32_t columns = uint32_t(problem.inputs[1].shape[0]);
  const uint32_t kernel = uint32_t(problem.inputs[1].shape[1]);
  const uint32_t tokens = std::max(kTokens, kernel - 1);
  return {.constants = {{"THREADS", kMapThreads},
                        {"COLUMNS", columns},
                        {"KERNEL", kernel},
                        {"REACH", kernel - 1},
                        {"TOKENS", tokens},
                        {"AT_ONCE", std::min(problem.decodes ? 1 : problem.max_tokens, kAtOnce)},
                        {"GATED", uint32_t{problem.as<ShortConv>().gated}},
                        activation_constant(problem.as<ShortConv>().activation)},
          .sources = {kActivationSource, "conv/input.wgsl",
                      problem.inputs.size() == 3 ? "conv/bias.wgsl" : "conv/no_bias.wgsl",
                      "conv/short_conv.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = {1, tokens, true}}};
}

constexpr KernelVariant kShortConvVariants[] = {
    {.name = "short_conv.wgsl", .op = op_index<ShortConv>(), .launch = short_conv_launch},
    {.name = "short_conv.cpu",
     .op = op_index<ShortConv>(),
     .backend = BackendKind::kCpu,
     .run = short_conv_reference},
};

}  // namespace

std::span<const KernelVariant> conv_variants() {
  return kShortConvVariants;
}

}  // namespace tokamak
