// Rows of the variant tables for ops that remember a matrix per head: a head of a sequence is a
// part of the work, token after token.
#include <algorithm>
#include <vector>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/states.h"
#include "kernels/cpu/variants.h"
#include "kernels/delta/gated_delta.h"
#include "kernels/delta/selective_scan.h"

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

void gated_delta(const CpuCall& call) {
  over_heads(call, [&](size_t t, size_t head, std::span<float> s) {
    const DeltaStep step = delta_step_of(call, t, head);
    const size_t dk = step.q.size(), dv = step.v.size();
    const auto q_scale = float(step.q_scale), k_scale = float(step.k_scale);
    const auto decay = float(step.decay), beta = float(step.beta);
    std::vector<float> own(2 * dk + dv);
    const std::span<float> query = std::span(own).first(dk), key = std::span(own).subspan(dk, dk);
    const std::span<float> change = std::span(own).last(dv);
    for (size_t i = 0; i < dk; ++i) query[i] = q_scale * step.q[i];
    for (size_t i = 0; i < dk; ++i) key[i] = k_scale * step.k[i];
    read_state(key, s, change);
    for (size_t c = 0; c < dv; ++c) change[c] = beta * (step.v[c] - decay * change[c]);
    step_state(query, key, decay, change, s, step.y);
  });
}

void selective_scan(const CpuCall& call) {
  over_heads(call, [&](size_t t, size_t head, std::span<float> s) {
    const ScanStep step = scan_step_of(call, t, head);
    std::vector<float> added(step.x.size());
    for (size_t c = 0; c < added.size(); ++c) added[c] = float(step.delta) * step.x[c];
    step_state(step.c, step.b, float(step.decay), added, s, step.y);
    add_scaled(step.x, step.skip, step.y);
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
