#include "kernels/norm/layer_norm.h"

#include <cmath>

#include "kernels/norm/rms_norm.h"

namespace tokamak {

void layer_norm(std::span<const float> x, std::span<const float> w, std::span<const float> bias,
                float eps, std::span<float> y) {
  const size_t n = w.size();
  for (size_t start = 0; start < x.size(); start += n) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; ++i) sum += x[start + i];
    const double mean = sum / double(n);
    for (size_t i = 0; i < n; ++i) squares += (x[start + i] - mean) * (x[start + i] - mean);
    const double scale = 1.0 / std::sqrt(squares / double(n) + double(eps));
    for (size_t i = 0; i < n; ++i) {
      y[start + i] = float((x[start + i] - mean) * scale * w[i] + (bias.empty() ? 0.0f : bias[i]));
    }
  }
}

namespace {

void layer_norm_reference(const CpuCall& call) {
  std::span<const float> bias;
  if (call.inputs.size() == 3) bias = call.inputs[2].f32();
  layer_norm(call.inputs[0].f32(), call.inputs[1].f32(), bias, call.as<LayerNorm>().eps,
             call.outputs[0].f32());
}

template <bool kSubgroups>
Launch layer_norm_launch(const Problem& problem, const DeviceInfo&) {
  const char* bias = problem.inputs.size() == 3 ? "norm/bias.wgsl" : "norm/no_bias.wgsl";
  return norm_launch(
      problem, problem.as<LayerNorm>().eps, 1,
      {"norm/load.wgsl", "norm/keep_nothing.wgsl", "norm/store.wgsl", bias, "norm/layer_norm.wgsl"},
      kSubgroups);
}

constexpr KernelVariant kLayerNormVariants[] = {
    {.name = "layer_norm.wgsl.subgroup",
     .op = op_index<LayerNorm>(),
     .needs = kFeatureSubgroups,
     .launch = layer_norm_launch<true>},
    {.name = "layer_norm.wgsl", .op = op_index<LayerNorm>(), .launch = layer_norm_launch<false>},
    {.name = "layer_norm.cpu",
     .op = op_index<LayerNorm>(),
     .backend = BackendKind::kCpu,
     .run = layer_norm_reference},
};

}  // namespace

std::span<const KernelVariant> layer_norm_variants() {
  return kLayerNormVariants;
}

}  // namespace tokamak
