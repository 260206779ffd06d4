#include "kernels/experts/fused_experts.h"

#include <algorithm>
#include <numeric>

#include "kernels/elementwise/elementwise.h"
#include "kernels/experts/expert_sizes.h"
#include "kernels/launch.h"
#include "kernels/norm/rms_norm.h"
#include "kernels/quant/codec.h"

namespace tokamak {
namespace {

// The references round where the ops that they stand for do, so that they give their numbers.

float dot(std::span<const float> x, std::span<const float> row, double bias) {
  return float(std::inner_product(x.begin(), x.end(), row.begin(), bias));
}

/// gpt-oss's gate, as the ops compute it that it stands for.
float limited(float gate, float up, float limit) {
  const float g = std::min(gate, limit), u = std::clamp(up, -limit, limit);
  const float turned = float(activate(Activation::kSigmoid, 1.702f * g) * double(g));
  return turned * u + turned;
}

void expert_glu_reference(const CpuCall& call) {
  const auto& op = call.as<ExpertGlu>();
  const CpuTensor& w = call.inputs[1];
  const std::span<const uint32_t> chosen = call.inputs[2].u32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t top_k = call.inputs[2].dims[1], in = w.dims[1], n = w.dims[0] / op.experts / 2;
  const std::span<const float> given = call.inputs[0].f32();
  std::vector<float> x(given.begin(), given.end()), row(in);
  if (op.norm) rms_norm(given, call.inputs[3].f32(), op.eps, x);
  const std::span<const float> biases =
      op.bias ? call.inputs[op.norm ? 4 : 3].f32() : std::span<const float>();
  const auto product = [&](std::span<const float> own, size_t at) {
    w.load_row(at, row);
    return dot(own, row, op.bias ? double(biases[at]) : 0.0);
  };
  for (size_t slot = 0; slot < chosen.size(); ++slot) {
    TOK_CHECK(chosen[slot] < op.experts);
    const std::span<const float> own = std::span(x).subspan(slot / top_k * in, in);
    for (size_t r = 0; r < n; ++r) {
      const float gate = product(own, chosen[slot] * 2 * n + r);
      const float up = product(own, chosen[slot] * 2 * n + n + r);
      y[slot * n + r] =
          op.limit > 0 ? limited(gate, up, op.limit) : float(activate(op.activation, gate) * up);
    }
  }
}

void expert_mix_reference(const CpuCall& call) {
  const CpuTensor& w = call.inputs[1];
  const auto& op = call.as<ExpertMix>();
  const uint32_t experts = op.experts;
  const std::span<const float> x = call.inputs[0].f32(), shares = call.inputs[3].f32();
  const std::span<const uint32_t> chosen = call.inputs[2].u32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t top_k = call.inputs[2].dims[1], in = w.dims[1], out = w.dims[0] / experts;
  std::vector<float> row(in);
  std::vector<double> sums(y.size());
  for (size_t slot = 0; slot < chosen.size(); ++slot) {
    TOK_CHECK(chosen[slot] < experts);
    for (size_t r = 0; r < out; ++r) {
      w.load_row(chosen[slot] * out + r, row);
      const double bias = op.bias ? double(call.inputs[4].f32()[chosen[slot] * out + r]) : 0.0;
      sums[slot / top_k * out + r] +=
          double(shares[slot]) * dot(x.subspan(slot * in, in), row, bias);
    }
  }
  const size_t added = op.bias ? 5 : 4;
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = float(sums[i]);
    if (call.inputs.size() > added) y[i] += call.inputs[added].f32()[i];
  }
}

Launch launch(const Problem& p, uint32_t threads, std::vector<std::string> sources, Grid grid) {
  const ExpertProductSizes s = expert_sizes(p);
  Launch made = {.constants = {{"THREADS", threads},
                               {"EXPERTS", s.experts},
                               {"FIRST_EXPERT", s.first},
                               {"HELD", s.held},
                               {"IN", s.in},
                               {"OUT", s.out}},
                 .sources = std::move(sources),
                 .grid = grid};
  add_bias(made, p);
  return with_codec(wide_codec(p.inputs[1]), std::move(made));
}

template <bool kSubgroups>
Launch expert_glu_launch(const Problem& p, const DeviceInfo&) {
  const auto& op = p.as<ExpertGlu>();
  const ExpertProductSizes s = expert_sizes(p);
  Launch made = launch(
      p, power_of_two(s.in / 16, 32, 256),
      with_reduction(kSubgroups,
                     {kActivationSource, gate_source(p), bias_source(p), "experts/results.wgsl",
                      op.norm ? "experts/normed_input.wgsl" : "experts/plain_input.wgsl",
                      "experts/matvec.wgsl"}),
      {.x = {ceil_div(s.out, 2u)}, .y = {s.top_k}});
  made.constants.insert(made.constants.end(), {{"X_ROWS", 1u}, {"TOP_K", s.top_k}});
  add_gate(made, p);
  if (op.norm) made.constants.push_back({"EPS", op.eps});
  return made;
}

template <bool kSubgroups>
Launch expert_mix_launch(const Problem& p, const DeviceInfo&) {
  const ExpertProductSizes s = expert_sizes(p);
  Launch made = launch(p, power_of_two(s.top_k * s.in / 32, 32, 256),
                       with_reduction(kSubgroups, {bias_source(p), "experts/mix_matvec.wgsl"}),
                       {.x = {ceil_div(s.out, 4u)}});
  made.constants.push_back({"TOP_K", s.top_k});
  add_mix_results(made, p);
  return made;
}

constexpr KernelVariant kFusedExpertsVariants[] = {
    {.name = "expert_glu.wgsl.subgroup",
     .op = op_index<ExpertGlu>(),
     .needs = kFeatureSubgroups,
     .refuses = refuses_tokens_or_width,
     .launch = expert_glu_launch<true>},
    {.name = "expert_glu.wgsl",
     .op = op_index<ExpertGlu>(),
     .refuses = refuses_tokens_or_width,
     .launch = expert_glu_launch<false>},
    {.name = "expert_glu.cpu",
     .op = op_index<ExpertGlu>(),
     .backend = BackendKind::kCpu,
     .run = expert_glu_reference},
    {.name = "expert_mix.wgsl.subgroup",
     .op = op_index<ExpertMix>(),
     .needs = kFeatureSubgroups,
     .refuses = refuses_tokens_or_width,
     .launch = expert_mix_launch<true>},
    {.name = "expert_mix.wgsl",
     .op = op_index<ExpertMix>(),
     .refuses = refuses_tokens_or_width,
     .launch = expert_mix_launch<false>},
    {.name = "expert_mix.cpu",
     .op = op_index<ExpertMix>(),
     .backend = BackendKind::kCpu,
     .run = expert_mix_reference},
};

}  // namespace

std::span<const KernelVariant> fused_expert_variants() {
  return kFusedExpertsVariants;
}

}  // namespace tokamak
