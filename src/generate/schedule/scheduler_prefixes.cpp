// The part of Scheduler that finds what a prompt shares with those before it.
#include "generate/schedule/scheduler_state.h"
#include "generate/steps/phase_results.h"

namespace tokamak {
namespace {

/// A checkpoint costs a prompt a step more, which fewer tokens are not worth.
constexpr uint32_t kMinCheckpointTokens = 32;

}  // namespace

uint32_t Scheduler::share_prefix(Sequence& sequence) {
  const std::string tenant = tenant_of(sequence);
  // The last token runs in any case: somebody wants what follows it.
  const std::span<const uint32_t> ids = std::span(sequence.ids).first(sequence.ids.size() - 1);
  if (pool_table_) sequence.pages = prefixes_.find(tenant, ids);
  const auto in_pages = uint32_t(sequence.pages.size()) * kPageTokens;
  const auto known = pool_table_ ? ids.first(in_pages) : ids;
  uint32_t shared = in_pages;
  if (uses_checkpoints_) {
    const auto found = checkpoints_.find(tenant, known);
    shared = found ? found->tokens : 0;
    sequence.branch = in_pages;
    if (found) sequence.checkpoint = found->number;
  } else if (window_spare_ != UINT32_MAX) {
    shared = last_in_slot_.is_there ? shared_prefix_with_last(sequence, tenant, known) : 0;
  }
  if (pool_table_) {
    const auto unused = std::span(sequence.pages).subspan(shared / kPageTokens);
    for (const uint32_t page : unused) pool_.drop(page);
    sequence.pages.resize(shared / kPageTokens);
  }
  return shared;
}

uint32_t Scheduler::shared_prefix_with_last(std::string_view tenant,
                                            std::span<const uint32_t> ids) const {
  if (last_in_slot_.tenant != tenant) return 0;
  return uint32_t(std::ranges::mismatch(last_in_slot_.ids, ids).in2 - ids.begin());
}

uint32_t Scheduler::shared_prefix_with_last(const Sequence& sequence, std::string_view tenant,
                                            std::span<const uint32_t> ids) const {
  uint32_t held = shared_prefix_with_last(tenant, ids) / kPageTokens * kPageTokens;
  while (!sequence.places.can_part(held)) held -= kPageTokens;
  // The tokens after it have taken the places of the oldest ones.
  const bool is_there = std::ranges::all_of(program_->plan().buffers, [&](const Buffer& buffer) {
    if (!is_kv_cache(buffer) || buffer.tensor.window == 0) return true;
    const auto cells = uint32_t(buffer.tensor.shape[0]);
    return last_in_slot_.written <= cells ||
           held >= last_in_slot_.written - cells + buffer.tensor.window;
  });
  return is_there ? held : 0;
}

void Scheduler::begin_after(Sequence& sequence, uint32_t shared) {
  if (shared == 0) written_ = 0;
  if (sequence.replay_tokens > 0) return;  // it has a log of its own
  const auto ids = std::span(sequence.ids).first(sequence.ids.size() - 1);
  const std::string tenant = tenant_of(sequence);
  const uint32_t known = window_spare_ != UINT32_MAX
                             ? shared_prefix_with_last(sequence, tenant, ids)
                             : shared_prefix_with_last(tenant, ids) / kPageTokens * kPageTokens;
  if (!last_in_slot_.is_there) sequence.replay_tokens = known;
  if (shared <= known) {
    sequence.steps = last_in_slot_.steps;
    sequence.steps.cut(last_in_slot_.is_there ? shared : known);
  } else {
    sequence.steps = {};
    sequence.steps.add(0, shared);
  }
}

uint32_t Scheduler::next_checkpoint(const Sequence& sequence) const {
  if (!uses_checkpoints_ || sequence.has_run()) return 0;
  const auto last = uint32_t(sequence.ids.size() - 1) / kPageTokens * kPageTokens;
  for (uint32_t end : {std::min(sequence.branch, last), last}) {
    while (!sequence.places.can_part(end)) end -= kPageTokens;
    if (end >= kMinCheckpointTokens && end > sequence.position) return end;
  }
  return 0;
}

Result<void> Scheduler::add_checkpoint(const Sequence& sequence) {
  const auto number =
      checkpoints_.add(tenant_of(sequence), std::span(sequence.ids).first(sequence.position));
  if (!number) return {};
  return program_->submit(
      copies_alone(checkpoint_copies(program_->plan(), *sequence.slot, *number)));
}

std::vector<BufferCopy> Scheduler::checkpoint_ahead(Sequence& sequence) {
  settle_checkpoint(sequence);
  const uint32_t position = sequence.position;
  const bool is_due = single_slot_ && uses_checkpoints_ && position % kPageTokens == 0;
  if (!is_due || position == 0 || sequence.copied) return {};
  const std::optional<uint32_t> number = checkpoints_.take();
  if (!number) return {};
  sequence.copied = {*number, position};
  return checkpoint_copies(program_->plan(), *sequence.slot, *number);
}

void Scheduler::settle_checkpoint(Sequence& sequence) {
  if (!sequence.copied) return;
  const auto [number, position] = *sequence.copied;
  if (position <= sequence.certain()) {
    checkpoints_.keep(number, tenant_of(sequence), std::span(sequence.ids).first(position));
    sequence.copied.reset();
  }
}

}  // namespace tokamak
