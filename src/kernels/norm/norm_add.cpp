#include "kernels/norm/norm_add.h"

#include "kernels/launch.h"
#include "kernels/library/library.h"
#include "kernels/norm/rms_norm.h"

namespace tokamak {
namespace {

void norm_add_reference(const CpuCall& call) {
  const auto& op = call.as<NormAdd>();
  std::vector<float> s(call.inputs[0].f32().size());
  rms_norm(call.inputs[0].f32(), call.inputs[2].f32(), op.eps, s);
  const float factor = op.factor * (op.scaled ? call.inputs[3].f32()[0] : 1.0f);
  for (size_t i = 0; i < s.size(); ++i) s[i] = (call.inputs[1].f32()[i] + s[i]) * factor;
  std::ranges::copy(s, call.outputs.back().f32().begin());
  if (!op.normed) return;
  rms_norm(s, call.inputs.back().f32(), op.eps, s);
  for (size_t i = 0; i < s.size(); ++i) store_half(call.outputs[0], i, s[i]);
}

}  // namespace

Launch norm_add_launch(const Problem& problem, bool subgroups) {
  const auto& op = problem.as<NormAdd>();
  std::vector<std::string> sources = {op.scaled ? "norm/factor.wgsl" : "norm/no_factor.wgsl"};
  if (op.normed) {
    sources.insert(sources.end(),
                   {"norm/keep_second.wgsl",
                    op.scaled ? "norm/sum_weight_fifth.wgsl" : "norm/sum_weight_fourth.wgsl"});
    if (op.rounded != Half::kNone) {
      sources.insert(sources.end(),
                     {half_source(op.rounded), "norm/plain_none.wgsl", "norm/store_half.wgsl"});
    } else {
      sources.emplace_back("norm/store.wgsl");
    }
    sources.emplace_back("norm/sum_norm.wgsl");
  } else {
    sources.insert(sources.end(), {"norm/keep_first.wgsl", "norm/no_sum_norm.wgsl"});
  }
  sources.emplace_back("norm/norm_add.wgsl");
  Launch own = norm_launch(problem, op.eps, 2, std::move(sources), subgroups);
  own.constants.push_back({"FACTOR", op.factor});
  return own;
}

namespace {

constexpr KernelVariant kNormAddVariants[] = {
    {.name = "norm_add.wgsl.subgroup",
     .op = op_index<NormAdd>(),
     .needs = kFeatureSubgroups,
     .refuses = rounding_refuses<NormAdd, false>,
     .launch = norm_variant<norm_add_launch, true>},
    {.name = "norm_add.wgsl",
     .op = op_index<NormAdd>(),
     .refuses = rounding_refuses<NormAdd, false>,
     .launch = norm_variant<norm_add_launch, false>},
    {.name = "norm_add.cpu",
     .op = op_index<NormAdd>(),
     .backend = BackendKind::kCpu,
     .run = norm_add_reference},
};

}  // namespace

std::span<const KernelVariant> norm_add_variants() {
  return kNormAddVariants;
}

}  // namespace tokamak
