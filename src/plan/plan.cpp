#include "plan/plan.h"

#include <algorithm>

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

}  // namespace tokamak
