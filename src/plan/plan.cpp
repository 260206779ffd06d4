#include "plan/plan.h"

#include <algorithm>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak {

uint32_t Plan::chunk() const {
  uint32_t most = 1;
  for (const Phase& phase : phases) most = std::max(most, phase.max_tokens);
  return most;
}

size_t Plan::phase_for(uint64_t tokens) const {
  size_t best = phases.size();
  for (size_t i = 0; i < phases.size(); ++i) {
    if (phases[i].max_tokens < tokens) continue;
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

uint64_t bound_bytes(const Operand& operand, uint64_t tokens) {
  return round_up<uint64_t>(byte_count(operand.dtype, operand.shape, tokens), 16);
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
