// The part of Scheduler that finds what a prompt shares with those before it.
#include "generate/phase_results.h"
#include "generate/scheduler_state.h"

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
  if (!uses_checkpoints_) return in_pages;
  const auto known = pool_table_ ? ids.first(in_pages) : ids;
  const auto found = checkpoints_.find(tenant, known);
  const uint32_t shared = found ? found->tokens : 0;
  sequence.branch = in_pages;
  if (found) sequence.checkpoint = found->number;
  if (pool_table_) {
    const auto unused = std::span(sequence.pages).subspan(shared / kPageTokens);
    for (const uint32_t page : unused) pool_.drop(page);
    sequence.pages.resize(shared / kPageTokens);
  }
  return shared;
}

uint32_t Scheduler::next_checkpoint(const Sequence& sequence) const {
  if (!uses_checkpoints_) return 0;
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

}  // namespace tokamak
