// How large the staging memory for results is.
#pragma once
#include <algorithm>

#include "base/bits.h"
#include "plan/plan.h"

namespace tokamak {

/// The bytes of the largest result of any step of the plan; a multiple of 16, at least that.
inline uint64_t largest_result(const Plan& plan) {
  uint64_t bytes = 16;
  for (const Phase& phase : plan.phases) {
    const BatchSize most = {phase.max_tokens, max_slots(plan, phase), max_outputs(plan, phase)};
    bytes = std::max(bytes, result_bytes(plan, phase.result, most));
  }
  return round_up<uint64_t>(bytes, 16);
}

}  // namespace tokamak
