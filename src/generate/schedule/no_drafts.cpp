// The browser's modules ask for no drafts: `open` has no option for them, so that no plan has a
// phase that verifies one, and none is ever in flight.
#include "generate/schedule/scheduler_state.h"

namespace tokamak {

bool Scheduler::defer_for_verification(const InFlightStep&) {
  return false;
}

Result<bool> Scheduler::submit_verify(std::span<Sequence* const>) {
  return false;
}

void Scheduler::take_draft(const InFlightStep&, size_t) {}

void DraftModel::forget() {}

Result<void> DraftModel::restore(const Error&) {
  return {};
}

}  // namespace tokamak
