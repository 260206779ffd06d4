#include "kernels/delta/gated_delta.h"

#include <cmath>

#include "kernels/delta/chunks.h"
#include "kernels/delta/recurrence.h"

namespace tokamak {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double(a[i]) * b[i];
  return sum;
}

/// s: [dk, dv].
void run_step(const DeltaStep& step, std::span<float> s) {
  const size_t dk = step.q.size(), dv = step.v.size();
  for (size_t c = 0; c < dv; ++c) {
    double seen = 0;
    for (size_t r = 0; r < dk; ++r) seen += step.k_scale * step.k[r] * step.decay * s[r * dv + c];
    const double change = step.beta * (step.v[c] - seen);
    double sum = 0;
    for (size_t r = 0; r < dk; ++r) {
      const double next = step.decay * s[r * dv + c] + step.k_scale * step.k[r] * change;
      s[r * dv + c] = float(next);
      sum += step.q_scale * step.q[r] * next;
    }
    step.y[c] = float(sum);
  }
}

void gated_delta_reference(const CpuCall& call) {
  const std::vector<uint32_t>& dims = call.outputs[1].dims;
  const size_t heads = dims[0], size = size_t{dims[1]} * dims[2];
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    const std::span<float> state = call.outputs[1].of_slot(call.batch.slot_of(t).index).f32();
    if (call.batch.position_of(t) == 0) std::ranges::fill(state, 0.0f);
    for (size_t h = 0; h < heads; ++h) {
      run_step(delta_step_of(call, t, h), state.subspan(h * size, size));
    }
  }
}

std::vector<Constant> delta_constants(const Problem& p) {
  const auto& op = p.as<GatedDelta>();
  return {{"KEY_HEADS", op.key_heads},
          {"TILED", uint32_t{op.tiled}},
          {"NEGATED", uint32_t{op.negated}}};
}

Launch gated_delta_launch(const Problem& p, const DeviceInfo&) {
  return recurrence_launch(p, "gated_delta", delta_constants(p));
}

Launch gated_delta_chunks_launch(const Problem& p, const DeviceInfo&) {
  return chunks_launch(p, "gated_delta", delta_constants(p));
}

constexpr KernelVariant kGatedDeltaVariants[] = {
    {.name = "gated_delta.wgsl.chunks",
     .op = op_index<GatedDelta>(),
     .needs = kFragmentFeatures,
     .refuses = chunks_refuse,
     .launch = gated_delta_chunks_launch,
     .rounding = kF16Rounding},
    {.name = "gated_delta.wgsl",
     .op = op_index<GatedDelta>(),
     .refuses = recurrence_refuses,
     .launch = gated_delta_launch},
    {.name = "gated_delta.cpu",
     .op = op_index<GatedDelta>(),
     .backend = BackendKind::kCpu,
     .run = gated_delta_reference},
};

}  // namespace

DeltaStep delta_step_of(const CpuCall& call, size_t t, size_t head) {
  const auto& op = call.as<GatedDelta>();
  const std::span<const float> rates = call.inputs[2].f32();
  const std::vector<uint32_t>& dims = call.outputs[1].dims;
  const size_t heads = dims[0], dk = dims[1], dv = dims[2], key_heads = op.key_heads;
  const size_t width = call.inputs[0].dims[1], ab_width = call.inputs[1].dims[1];
  const std::span<const float> row = call.inputs[0].f32().subspan(t * width, width);
  const std::span<const float> ab =
      call.inputs[1].f32().subspan((t + 1) * ab_width - 2 * heads, 2 * heads);
  const size_t key_head = op.tiled ? head % key_heads : head / (heads / key_heads);
  DeltaStep step{.q = row.subspan(key_head * dk, dk),
                 .k = row.subspan((key_heads + key_head) * dk, dk),
                 .v = row.subspan(2 * key_heads * dk + head * dv, dv),
                 .y = call.outputs[0].f32().subspan((t * heads + head) * dv, dv)};
  step.q_scale = 1.0 / std::sqrt((dot(step.q, step.q) + 1e-6) * double(dk));
  step.k_scale = 1.0 / std::sqrt(dot(step.k, step.k) + 1e-6);
  const double factor = op.negated ? -double(rates[head]) : std::exp(double(rates[head]));
  step.decay = std::exp(-factor * softplus(double(ab[head]) + double(rates[heads + head])));
  step.beta = 1.0 / (1.0 + std::exp(-double(ab[heads + head])));
  return step;
}

std::span<const KernelVariant> gated_delta_variants() {
  return kGatedDeltaVariants;
}

}  // namespace tokamak
