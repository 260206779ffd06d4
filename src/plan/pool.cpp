#include "plan/pool.h"

#include <algorithm>

#include "base/check.h"

namespace tokamak {

uint32_t ActivationPool::take(uint64_t bytes) {
  uint32_t best = uint32_t(bytes_.size());
  for (uint32_t i = 0; i < bytes_.size(); ++i) {
    if (taken_[i]) continue;
    const bool none_yet = best == bytes_.size();
    if (none_yet) {
      best = i;
    } else if (bytes_[i] >= bytes) {
      if (bytes_[best] < bytes || bytes_[i] < bytes_[best]) best = i;
    } else if (bytes_[best] < bytes && bytes_[i] > bytes_[best]) {
      best = i;
    }
  }
  if (best == bytes_.size()) {
    bytes_.push_back(0);
    taken_.push_back(false);
  }
  bytes_[best] = std::max(bytes_[best], bytes);
  taken_[best] = true;
  return best;
}

void ActivationPool::release(uint32_t index) {
  TOK_CHECK(index < taken_.size() && taken_[index]);
  taken_[index] = false;
}

void ActivationPool::release_all() {
  std::fill(taken_.begin(), taken_.end(), false);
}

}  // namespace tokamak
