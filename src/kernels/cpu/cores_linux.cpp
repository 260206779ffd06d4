// The cores of this machine that the process may use.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

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

/// CPUs' worth of time that the control group may use; infinite where nothing limits it.
double quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double time = 0, period = 0;
  if (!(file >> time >> period) || period <= 0) return HUGE_VAL;  // "max 100000"
  return time / period;
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
    return std::max(1u, uint32_t(std::min(double(cores), std::ceil(quota()))));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "Processor";
}

}  // namespace tokamak
