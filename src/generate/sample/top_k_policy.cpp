#include "generate/sample/top_k_policy.h"

#include <algorithm>

namespace tokamak {

void TopKPolicy::was_enough() {
  misses_ = 0;
  recent_misses_ -= std::min(recent_misses_, 1u);
}

void TopKPolicy::was_not_enough() {
  pause_ = (1u << std::min(misses_++, 6u)) - 1;
  recent_misses_ = steps_of_a_miss_;
}

void TopKPolicy::made_no_list() {
  pause_ -= std::min(pause_, 1u);
}

}  // namespace tokamak
