// The cores of a system that is asked for no more than their number.
#include <algorithm>
#include <thread>

#include "kernels/cpu/thread_pool.h"

namespace tokamak {

uint32_t usable_cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string processor_name() {
  return "Processor";
}

}  // namespace tokamak
