#include "kernels/norm/group_norm.h"

#include <cmath>

#include "kernels/launch.h"

namespace tokamak {
namespace {

void group_norm_reference(const CpuCall& call) {
  const std::span<const float> w = call.inputs[1].f32(), bias = call.inputs[2].f32();
  const size_t n = w.size();
  for (uint32_t s = 0; s < call.batch.slots(); ++s) {
    const Slot& slot = call.batch.slot(s);
    const std::span<const float> x = call.inputs[0].f32().subspan(slot.start * n, slot.count * n);
    const std::span<float> y = call.outputs[0].f32().subspan(slot.start * n, x.size());
    double sum = 0, squares = 0;
    for (const float one : x) sum += one;
    const double mean = sum / double(x.size());
    for (const float one : x) squares += (one - mean) * (one - mean);
    const double scale =
        1 / std::sqrt(squares / double(x.size()) + double(call.as<GroupNorm>().eps));
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] = float((x[i] - mean) * scale * w[i % n] + bias[i % n]);
    }
  }
}

template <bool kSubgroups>
Launch group_norm_launch(const Problem& problem, const DeviceInfo&) {
  constexpr uint32_t kThreads = 256;
  return {.constants = {{"THREADS", kThreads},
                        {"COLUMNS", uint32_t(problem.outputs[0].shape[1])},
                        {"EPS", problem.as<GroupNorm>().eps}},
          .sources = with_reduction(kSubgroups, {"norm/group_norm.wgsl"}),
          .grid = {.y = {1, 0, true}}};
}

constexpr KernelVariant kGroupNormVariants[] = {
    {.name = "group_norm.wgsl.subgroup",
     .op = op_index<GroupNorm>(),
     .needs = kFeatureSubgroups,
     .launch = group_norm_launch<true>},
    {.name = "group_norm.wgsl", .op = op_index<GroupNorm>(), .launch = group_norm_launch<false>},
    {.name = "group_norm.cpu",
     .op = op_index<GroupNorm>(),
     .backend = BackendKind::kCpu,
     .run = group_norm_reference},
};

}  // namespace

std::span<const KernelVariant> group_norm_variants() {
  return kGroupNormVariants;
}

}  // namespace tokamak
