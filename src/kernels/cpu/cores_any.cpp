// The cores of a system that is asked for no more than their number: where some are slower, of the
// fast ones, for all wait for the last.
#include <algorithm>
#include <thread>

#include "base/system/machine.h"
#include "kernels/cpu/thread_pool.h"

namespace tokamak {

uint32_t usable_cores() {
  const uint32_t fast = fast_cores();
  return fast != 0 ? fast : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace tokamak
