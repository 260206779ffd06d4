#include "plan/plan.h"

#include <algorithm>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak {

uint32_t Plan::chunk() const {
  uint32_t most = 1;
  for (const Phase& phase : phases) {
    if (phase.kind == PhaseKind::kPrefill) most = std::max(most, phase.max_tokens);
  }
  return most;
}

uint32_t Plan::max_rows() const {
  uint32_t most = 1;
  for (const Phase& phase : phases) most = std::max(most, phase.max_tokens);
  return most;
}

size_t Plan::phase_for(uint64_t tokens, PhaseKind kind) const {
  size_t best = phases.size();
  for (size_t i = 0; i < phases.size(); ++i) {
    if (phases[i].max_tokens < tokens || phases[i].from_position > 0) continue;
    const bool is_one = kind == PhaseKind::kPrefill && phases[i].max_tokens == 1 &&
                        phases[i].kind == PhaseKind::kDecode;
    if (phases[i].kind != kind && !is_one) continue;
    if (best == phases.size() || phases[i].max_tokens < phases[best].max_tokens) best = i;
  }
  return best;
}

size_t Plan::phase_at(size_t phase, uint32_t position) const {
  return change_after(phase, 0) <= position ? phase + 1 : phase;
}

uint32_t Plan::change_after(size_t phase, uint32_t position) const {
  constexpr uint32_t kNowhere = UINT32_MAX;
  if (phase + 1 >= phases.size() || phases[phase + 1].from_position == 0) return kNowhere;
  const uint32_t from = phases[phase + 1].from_position;
  return from > position ? from : kNowhere;
}

uint32_t max_slots(const Plan& plan, const Phase& phase) {
  return std::min(plan.slots, phase.max_tokens);
}

uint32_t max_outputs(const Plan& plan, const Phase& phase) {
  const uint32_t slots = max_slots(plan, phase);
  return decodes(phase.kind) ? slots : std::min(slots, kMaxPromptOutputs);
}

bool is_for_outputs(const Plan& plan, const Phase& phase, const Step& step) {
  return max_outputs(plan, phase) > 1 && step.outputs[0].shape[0] == kOutputs;
}

BatchAccess batch_access(const Plan& plan, const Phase& phase, const Step& step) {
  return {.layout = plan.layout(),
          .slots = max_slots(plan, phase),
          .decodes = decodes(phase.kind),
          .output_rows = is_for_outputs(plan, phase, step),
          .writes = step.launch.writes_batch};
}

bool fits(const Plan& plan, const Phase& phase, const BatchSize& size) {
  return size.rows >= 1 && size.rows <= phase.max_tokens && size.slots <= max_slots(plan, phase) &&
         size.outputs <= max_outputs(plan, phase);
}

uint64_t result_bytes(const Plan& plan, const Operand& result, const BatchSize& size) {
  const uint64_t bytes = byte_count(result.dtype, result.shape, size.rows, size.outputs);
  return plan.at(result.buffer).use == BufferUse::kSampled ? plan.slots * bytes : bytes;
}

uint64_t bound_bytes(const Plan& plan, const Operand& operand, const Phase& phase) {
  const Buffer& buffer = plan.at(operand.buffer);
  const bool is_whole = buffer.use != BufferUse::kActivation && buffer.use != BufferUse::kBatch;
  if (is_whole) return buffer.bytes;
  const uint64_t bytes =
      byte_count(operand.dtype, operand.shape, phase.max_tokens, max_outputs(plan, phase));
  return round_up<uint64_t>(bytes, 16);
}

bool is_written_by_device(BufferUse use) {
  return use == BufferUse::kState || use == BufferUse::kCopy || use == BufferUse::kSampled ||
         use == BufferUse::kActivation;
}

bool is_kv_cache(const Buffer& buffer) {
  return buffer.use == BufferUse::kState && buffer.tensor.shape.size() == 4;
}

bool is_recurrent_state(const Buffer& buffer) {
  return buffer.use == BufferUse::kState && !is_kv_cache(buffer);
}

std::vector<BufferCopy> state_copies(const Plan& plan, uint32_t which) {
  TOK_CHECK(which < kStateCopies);
  std::vector<uint32_t> states, copies;
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (is_recurrent_state(plan.buffers[i])) states.push_back(i);
    if (plan.buffers[i].use == BufferUse::kCopy) copies.push_back(i);
  }
  std::vector<BufferCopy> pairs;
  if (copies.empty()) return pairs;
  TOK_CHECK(copies.size() == kStateCopies * states.size());
  for (size_t i = 0; i < states.size(); ++i) {
    pairs.push_back({BufferId(states[i]), BufferId(copies[kStateCopies * i + which])});
  }
  return pairs;
}

}  // namespace tokamak
