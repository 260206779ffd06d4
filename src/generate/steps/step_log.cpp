#include "generate/steps/step_log.h"

#include <algorithm>

namespace tokamak {

void StepLog::add(uint32_t position, uint32_t count) {
  if (position + count <= end()) return;
  while (end() < position) ends_.push_back(end() + 1);
  ends_.push_back(position + count);
}

uint32_t StepLog::rest_of_step(uint32_t position) const {
  const auto after = std::ranges::upper_bound(ends_, position);
  return after == ends_.end() ? 1 : *after - position;
}

void StepLog::cut(uint32_t position) {
  if (position >= end()) return;
  ends_.erase(std::ranges::lower_bound(ends_, position), ends_.end());
  if (position > 0) ends_.push_back(position);
}

}  // namespace tokamak
