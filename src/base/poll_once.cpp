#include "base/poll.h"

namespace tokamak {

bool poll_until_true(const std::function<bool()>& is_done, const Backoff&) {
  return is_done();
}

}  // namespace tokamak
