#include "kernels/norm/rms_norm.h"

#include <cmath>

#include "kernels/launch.h"

namespace tokamak {

void rms_norm(std::span<const float> x, std::span<const float> w, float eps, std::span<float> y) {
  const size_t n = w.size();
  for (size_t start = 0; start < x.size(); start += n) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += double(x[start + i]) * x[start + i];
    const double scale = 1.0 / std::sqrt(sum / double(n) + double(eps));
    for (size_t i = 0; i < n; ++i) y[start + i] = float(x[start + i] * scale * w[i]);
  }
}

namespace {

void rms_norm_reference(const CpuCall& call) {
  rms_norm(call.inputs[0].f32(), call.inputs[1].f32(), call.as<RmsNorm>().eps,
           call.outputs[0].f32());
}

void add_rms_norm_reference(const CpuCall& call) {
  const std::span<const float> a = call.inputs[0].f32(), b = call.inputs[1].f32();
  const std::span<float> sum = call.outputs[0].f32();
  const size_t parts = call.as<AddRmsNorm>().parts, n = call.inputs[2].dims[0];
  for (size_t i = 0; i < sum.size(); ++i) {
    double all = b[i];
    for (size_t p = 0; p < parts; ++p) all += a[(i / n * parts + p) * n + i % n];
    sum[i] = float(all);
  }
  rms_norm(sum, call.inputs[2].f32(), call.as<AddRmsNorm>().eps, call.outputs[1].f32());
}

}  // namespace

Launch norm_launch(const Problem& problem, float eps, size_t weight,
                   std::vector<std::string> sources, bool subgroups) {
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  const uint32_t n = uint32_t(problem.inputs[weight].shape[0]);
  // A result of one row (after last_row) has no T; its grid must not grow with the step.
  const bool per_token = problem.outputs[0].shape[0] == kTokens;
  const uint32_t unit = n % 4 == 0 ? 4 : 1;
  sources.insert(sources.begin(), unit == 4 ? "norm/fours.wgsl" : "norm/ones.wgsl");
  return {.constants = {{"THREADS", power_of_two(n / 4, 32, 256)},
                        {"UNIT", unit},
                        {"COLUMNS", columns / unit},
                        {"GROUP", n / unit},
                        {"EPS", eps}},
          .sources = with_reduction(subgroups, std::move(sources)),
          .grid = {.x = {columns / n}, .y = {1, per_token ? 1u : 0u}}};
}

namespace {

template <bool kSubgroups>
Launch rms_norm_launch(const Problem& problem, const DeviceInfo&) {
  return norm_launch(
      problem, problem.as<RmsNorm>().eps, 1,
      {"norm/load.wgsl", "norm/keep_nothing.wgsl", "norm/store.wgsl", "norm/rms_norm.wgsl"},
      kSubgroups);
}

template <bool kSubgroups>
Launch add_rms_norm_launch(const Problem& problem, const DeviceInfo&) {
  const auto& op = problem.as<AddRmsNorm>();
  Launch own = norm_launch(problem, op.eps, 2,
                           {"norm/load_add.wgsl", "norm/store_second.wgsl", "norm/rms_norm.wgsl"},
                           kSubgroups);
  own.constants.push_back({"PARTS", op.parts});
  return own;
}

constexpr KernelVariant kRmsNormVariants[] = {
    {.name = "rms_norm.wgsl.subgroup",
     .op = op_index<RmsNorm>(),
     .needs = kFeatureSubgroups,
     .launch = rms_norm_launch<true>},
    {.name = "rms_norm.wgsl", .op = op_index<RmsNorm>(), .launch = rms_norm_launch<false>},
    {.name = "rms_norm.cpu",
     .op = op_index<RmsNorm>(),
     .backend = BackendKind::kCpu,
     .run = rms_norm_reference},
    {.name = "add_rms_norm.wgsl.subgroup",
     .op = op_index<AddRmsNorm>(),
     .needs = kFeatureSubgroups,
     .launch = add_rms_norm_launch<true>},
    {.name = "add_rms_norm.wgsl",
     .op = op_index<AddRmsNorm>(),
     .launch = add_rms_norm_launch<false>},
    {.name = "add_rms_norm.cpu",
     .op = op_index<AddRmsNorm>(),
     .backend = BackendKind::kCpu,
     .run = add_rms_norm_reference},
};

}  // namespace

std::span<const KernelVariant> rms_norm_variants() {
  return kRmsNormVariants;
}

}  // namespace tokamak
