#include "plan/plan.h"

#include <algorithm>

#include "base/bits.h"
#include "base/check.h"

namespace tokamak {

BufferId Plan::named(std::string_view name) const {
  const auto found = std::ranges::find(
      buffers, name, [](const Buffer& one) { return std::string_view(one.tensor.name); });
  TOK_CHECK(found != buffers.end());
  return BufferId(uint32_t(found - buffers.begin()));
}

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
  const bool is_for_all = decodes(phase.kind) || phase.kind == PhaseKind::kVerify;
  return is_for_all ? slots : std::min(slots, plan.prompt_outputs);
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

namespace {

bool is_state_of(const Buffer& buffer, StateKind kind) {
  return buffer.use == BufferUse::kState && buffer.tensor.state &&
         buffer.tensor.state->kind == kind;
}

}  // namespace

bool is_kv_cache(const Buffer& buffer) {
  return is_state_of(buffer, StateKind::kPages) || is_ring(buffer);
}

bool is_ring(const Buffer& buffer) {
  return is_state_of(buffer, StateKind::kRing);
}

bool is_recurrent_state(const Buffer& buffer) {
  return is_state_of(buffer, StateKind::kRecurrent);
}

namespace {

/// From what a slot has of each buffer of a kind to the place `number` of its copy.
template <typename IsKind>
void add_copies(const Plan& plan, IsKind is_kind, uint32_t slot, uint32_t number,
                std::vector<BufferCopy>& copies) {
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& state = plan.buffers[i];
    if (!is_kind(state)) continue;
    const auto copy = std::ranges::find_if(plan.buffers, [&](const Buffer& other) {
      return other.use == BufferUse::kCopy && other.tensor.name == state.tensor.name;
    });
    if (copy == plan.buffers.end()) continue;
    const uint64_t bytes = state.bytes / plan.slots;
    TOK_CHECK(bytes % 4 == 0 && (number + 1) * bytes <= copy->bytes);
    const auto to = BufferId(uint32_t(copy - plan.buffers.begin()));
    copies.push_back({BufferId(i), to, slot * bytes, number * bytes, bytes});
  }
}

}  // namespace

uint32_t checkpoints(const Plan& plan) {
  const auto any = [&](auto test) { return std::ranges::any_of(plan.buffers, test); };
  const bool has_copies = any([](const Buffer& one) { return one.use == BufferUse::kCopy; });
  if (!has_copies) return 0;
  if (plan.slots == 1 && any(is_ring)) return 0;
  return std::max(plan.slots, kMinCheckpoints);
}

std::vector<BufferCopy> state_copies(const Plan& plan, uint32_t slot, uint32_t number) {
  std::vector<BufferCopy> copies;
  add_copies(plan, is_recurrent_state, slot, number, copies);
  return copies;
}

std::vector<BufferCopy> checkpoint_copies(const Plan& plan, uint32_t slot, uint32_t number) {
  std::vector<BufferCopy> copies = state_copies(plan, slot, number);
  add_copies(plan, is_ring, slot, number, copies);
  return copies;
}

}  // namespace tokamak
