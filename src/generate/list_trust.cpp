#include "generate/list_trust.h"

#include <algorithm>

namespace tokamak {

void ListTrust::was_enough() {
  misses_ = 0;
  doubt_ -= std::min(doubt_, 1u);
}

void ListTrust::was_not_enough() {
  pause_ = (1u << std::min(misses_++, 6u)) - 1;
  doubt_ = steps_of_a_miss_;
}

void ListTrust::made_no_list() {
  pause_ -= std::min(pause_, 1u);
}

}  // namespace tokamak
