// Rows of the variant tables for ops that remember a matrix per head: a head of a sequence is a
// part of the work, token after token.
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/states.h"
#include "kernels/cpu/variants.h"
#include "kernels/delta/recurrence.h"

namespace tokamak {
namespace {

/// Neighbouring rows of one sequence.
struct SequenceRows {
  size_t first, count;
};

std::vector<SequenceRows> sequences_of(const CpuCall& call) {
  std::vector<SequenceRows> found;
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    const bool begins = t == 0 || &call.batch.slot_of(t) != &call.batch.slot_of(t - 1);
    if (begins) found.push_back({t, 0});
    ++found.back().count;
  }
  return found;
}

/// Calls step(t, head, its matrix) for all tokens of a head in order, heads on all threads.
template <typename Step>
void over_heads(const CpuCall& call, const Step& step) {
  const CpuTensor& states = call.outputs[1];
  const size_t heads = states.dims[0], size = size_t{states.dims[1]} * states.dims[2];
  const std::vector<SequenceRows> sequences = sequences_of(call);
  over_parts(call, sequences.size() * heads, 4 * size * sequences.front().count, [&](size_t part) {
    const SequenceRows& rows = sequences[part / heads];
    const size_t head = part % heads;
    const CpuTensor state = states.of_slot(call.batch.slot_of(rows.first).index);
    const std::span<float> s = state.f32().subspan(head * size, size);
    if (call.batch.position_of(rows.first) == 0) std::ranges::fill(s, 0.0f);
    for (size_t t = rows.first; t < rows.first + rows.count; ++t) step(t, head, s);
  });
}

double squares(std::span<const float> x) {
  return std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
}

void gated_delta(const CpuCall& call) {
  const std::span<const float> qkv = call.inputs[0].f32(), ab = call.inputs[1].f32();
  const std::span<const float> rates = call.inputs[2].f32();
  const std::vector<uint32_t>& dims = call.outputs[1].dims;
  const size_t heads = dims[0], dk = dims[1], dv = dims[2], width = call.inputs[0].dims[1];
  const size_t ab_width = call.inputs[1].dims[1], ab_first = ab_width - 2 * heads;
  const auto& op = call.as<GatedDelta>();
  const size_t key_heads = op.key_heads;
  over_heads(call, [&](size_t t, size_t h, std::span<float> s) {
    const size_t key_head = op.tiled ? h % key_heads : h / (heads / key_heads);
    const std::span<const float> row = qkv.subspan(t * width, width);
    const std::span<const float> q = row.subspan(key_head * dk, dk);
    const std::span<const float> k = row.subspan((key_heads + key_head) * dk, dk);
    const std::span<const float> v = row.subspan(2 * key_heads * dk + h * dv, dv);
    const float q_scale = float(1.0 / std::sqrt((squares(q) + 1e-6) * double(dk)));
    const float k_scale = float(1.0 / std::sqrt(squares(k) + 1e-6));
    const double a = ab[t * ab_width + ab_first + h], b = ab[t * ab_width + ab_first + heads + h];
    const double factor = op.negated ? -double(rates[h]) : std::exp(double(rates[h]));
    const float decay = float(std::exp(-factor * softplus(a + double(rates[heads + h]))));
    const float beta = float(1.0 / (1.0 + std::exp(-b)));
    std::vector<float> own(2 * dk + dv);
    const std::span<float> query = std::span(own).first(dk), key = std::span(own).subspan(dk, dk);
    const std::span<float> change = std::span(own).last(dv);
    for (size_t i = 0; i < dk; ++i) query[i] = q_scale * q[i];
    for (size_t i = 0; i < dk; ++i) key[i] = k_scale * k[i];
    read_state(key, s, change);
    for (size_t c = 0; c < dv; ++c) change[c] = beta * (v[c] - decay * change[c]);
    step_state(query, key, decay, change, s,
               call.outputs[0].f32().subspan((t * heads + h) * dv, dv));
  });
}

void selective_scan(const CpuCall& call) {
  const std::span<const float> xbc = call.inputs[0].f32(), dt = call.inputs[1].f32();
  const std::span<const float> params = call.inputs[2].f32();
  const std::vector<uint32_t>& dims = call.outputs[1].dims;
  const size_t heads = dims[0], n = dims[1], p = dims[2], width = call.inputs[0].dims[1];
  const size_t dt_width = call.inputs[1].dims[1], dt_first = dt_width - heads;
  const auto& op = call.as<SelectiveScan>();
  over_heads(call, [&](size_t t, size_t h, std::span<float> s) {
    const std::span<const float> row = xbc.subspan(t * width, width), x = row.subspan(h * p, p);
    const size_t first = heads * p + h / (heads / op.groups) * n;
    const double step = double(op.dt_factor) * dt[t * dt_width + dt_first + h];
    double delta = std::max(softplus(step + double(params[heads + h])), double(op.low));
    if (op.high > 0) delta = std::min(delta, double(op.high));
    const double rate = op.negated ? -double(params[h]) : std::exp(double(params[h]));
    std::vector<float> added(p);
    for (size_t c = 0; c < p; ++c) added[c] = float(delta) * x[c];
    const std::span<float> y = call.outputs[0].f32().subspan((t * heads + h) * p, p);
    step_state(row.subspan(first + op.groups * n, n), row.subspan(first, n),
               float(std::exp(-rate * delta)), added, s, y);
    add_scaled(x, params[2 * heads + h], y);
  });
}

constexpr KernelVariant kVariants[] = {
    vector_row<GatedDelta>("gated_delta.cpu.vectors", gated_delta),
    vector_row<SelectiveScan>("selective_scan.cpu.vectors", selective_scan),
};

}  // namespace

std::span<const KernelVariant> vector_recurrence_variants() {
  return kVariants;
}

}  // namespace tokamak
