#include "kernels/norm/fused_norm.h"

#include "kernels/library/library.h"
#include "kernels/norm/layer_norm.h"
#include "kernels/norm/rms_norm.h"

namespace tokamak {
namespace {

/// Operands: the bias of the norm, if there is one, follows its weight.
bool has_bias(const FusedNorm& op, size_t inputs) {
  return inputs > op.weight() + 1;
}

void fused_norm_reference(const CpuCall& call) {
  const auto& op = call.as<FusedNorm>();
  std::vector<float> x(call.inputs[0].f32().begin(), call.inputs[0].f32().end());
  if (op.adds) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += call.inputs[1].f32()[i];
  }
  if (op.summed) std::ranges::copy(x, call.outputs[1].f32().begin());
  const std::span<const float> w = call.inputs[op.weight()].f32();
  std::span<const float> bias;
  if (has_bias(op, call.inputs.size())) bias = call.inputs.back().f32();
  std::vector<float> y(x.size());
  if (op.centered) {
    layer_norm(x, w, bias, op.eps, y);
  } else {
    rms_norm(x, w, op.eps, y);
  }
  for (size_t i = 0; i < y.size(); ++i) store_half(call.outputs[0], i, y[i]);
  if (op.plain) std::ranges::copy(y, call.outputs.back().f32().begin());
}

}  // namespace

Launch fused_norm_launch(const Problem& problem, bool subgroups) {
  const auto& op = problem.as<FusedNorm>();
  std::vector<std::string> sources = {
      op.adds ? "norm/load_pair.wgsl" : "norm/load.wgsl",
      op.summed ? "norm/keep_second.wgsl" : "norm/keep_nothing.wgsl"};
  if (op.rounded != Half::kNone) {
    const char* plain = op.summed ? "norm/plain_third.wgsl" : "norm/plain_second.wgsl";
    sources.insert(sources.end(),
                   {half_source(op.rounded), op.plain ? plain : "norm/plain_none.wgsl",
                    "norm/store_half.wgsl"});
  } else {
    sources.emplace_back("norm/store.wgsl");
  }
  if (op.centered) {
    const char* bias = op.adds ? "norm/bias_third.wgsl" : "norm/bias.wgsl";
    sources.emplace_back(has_bias(op, problem.inputs.size()) ? bias : "norm/no_bias.wgsl");
  }
  sources.emplace_back(op.centered ? "norm/layer_norm.wgsl" : "norm/rms_norm.wgsl");
  return norm_launch(problem, op.eps, op.weight(), std::move(sources), subgroups);
}

namespace {

constexpr KernelVariant kFusedNormVariants[] = {
    {.name = "fused_norm.wgsl.subgroup",
     .op = op_index<FusedNorm>(),
     .needs = kFeatureSubgroups,
     .refuses = rounding_refuses<FusedNorm, false>,
     .launch = norm_variant<fused_norm_launch, true>},
    {.name = "fused_norm.wgsl",
     .op = op_index<FusedNorm>(),
     .refuses = rounding_refuses<FusedNorm, false>,
     .launch = norm_variant<fused_norm_launch, false>},
    {.name = "fused_norm.cpu",
     .op = op_index<FusedNorm>(),
     .backend = BackendKind::kCpu,
     .run = fused_norm_reference},
};

}  // namespace

std::span<const KernelVariant> fused_norm_variants() {
  return kFusedNormVariants;
}

}  // namespace tokamak
