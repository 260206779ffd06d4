#include "kernels/delta/gated_delta.h"

#include <cmath>

#include "kernels/delta/recurrence.h"

namespace tokamak {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double(a[i]) * b[i];
  return sum;
}

/// One token of one head. s: [dk, dv], y: [dv].
void delta_step(std::span<const float> q, std::span<const float> k, std::span<const float> v,
                double decay, double beta, std::span<float> s, std::span<float> y) {
  const size_t dk = q.size(), dv = v.size();
  const double q_scale = 1.0 / std::sqrt((dot(q, q) + 1e-6) * double(dk));
  const double k_scale = 1.0 / std::sqrt(dot(k, k) + 1e-6);
  for (size_t c = 0; c < dv; ++c) {
    double seen = 0;
    for (size_t r = 0; r < dk; ++r) seen += k_scale * k[r] * decay * s[r * dv + c];
    const double change = beta * (v[c] - seen);
    double sum = 0;
    for (size_t r = 0; r < dk; ++r) {
      const double next = decay * s[r * dv + c] + k_scale * k[r] * change;
      s[r * dv + c] = float(next);
      sum += q_scale * q[r] * next;
    }
    y[c] = float(sum);
  }
}

void gated_delta_reference(const CpuCall& call) {
  const std::span<const float> qkv = call.inputs[0].f32(), ab = call.inputs[1].f32();
  const std::span<const float> rates = call.inputs[2].f32();
  const std::span<float> y = call.outputs[0].f32();
  const std::vector<uint32_t>& dims = call.outputs[1].dims;
  const size_t heads = dims[0], dk = dims[1], dv = dims[2], width = call.inputs[0].dims[1];
  const size_t ab_width = call.inputs[1].dims[1], ab_first = ab_width - 2 * heads;
  const auto& op = call.as<GatedDelta>();
  const size_t key_heads = op.key_heads;
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    const std::span<float> state = call.outputs[1].of_slot(call.batch.slot_of(t).index).f32();
    if (call.batch.position_of(t) == 0) std::ranges::fill(state, 0.0f);
    const std::span<const float> row = qkv.subspan(t * width, width);
    for (size_t h = 0; h < heads; ++h) {
      const size_t key_head = op.tiled ? h % key_heads : h / (heads / key_heads);
      const double a = ab[t * ab_width + ab_first + h];
      const double b = ab[t * ab_width + ab_first + heads + h];
      const double factor = op.negated ? -double(rates[h]) : std::exp(double(rates[h]));
      const double rate = factor * softplus(a + double(rates[heads + h]));
      delta_step(row.subspan(key_head * dk, dk), row.subspan((key_heads + key_head) * dk, dk),
                 row.subspan(2 * key_heads * dk + h * dv, dv), std::exp(-rate),
                 1.0 / (1.0 + std::exp(-b)), state.subspan(h * dk * dv, dk * dv),
                 y.subspan((t * heads + h) * dv, dv));
    }
  }
}

Launch gated_delta_launch(const Problem& p, const DeviceInfo&) {
  const auto& op = p.as<GatedDelta>();
  return recurrence_launch(p, "gated_delta",
                           {{"KEY_HEADS", op.key_heads},
                            {"TILED", uint32_t{op.tiled}},
                            {"NEGATED", uint32_t{op.negated}}});
}

constexpr KernelVariant kGatedDeltaVariants[] = {
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

std::span<const KernelVariant> gated_delta_variants() {
  return kGatedDeltaVariants;
}

}  // namespace tokamak
