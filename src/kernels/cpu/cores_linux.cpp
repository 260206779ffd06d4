// The cores of this machine that the process may use.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include "base/control_group.h"
#include "kernels/cpu/thread_pool.h"

namespace tokamak {
namespace {

/// Whether no smaller number among those that share the core of `cpu` is in the mask.
bool is_first_of_core(int cpu, const cpu_set_t& mask) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                     "/topology/thread_siblings_list");
  int first = cpu;
  if (!(file >> first)) return true;
  return first >= cpu || !CPU_ISSET(size_t(first), &mask);
}

}  // namespace

uint32_t usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    uint32_t cores = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      cores += CPU_ISSET(size_t(cpu), &mask) && is_first_of_core(cpu, mask) ? 1 : 0;
    }
    const double quota = ControlGroups::of_process().cpus().value_or(cores);
    return std::max(1u, uint32_t(std::min(double(cores), std::ceil(quota))));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace tokamak
