// The host's memory, as Linux tells it, or at least how much there is in all, and what a container
// may use of it.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/control_group.h"
#include "engine/memory.h"

namespace tokamak {
namespace {

/// The number in the line "MemAvailable:   12345678 kB"; 0 without such a line.
uint64_t available_bytes() {
  std::ifstream lines("/proc/meminfo");
  for (std::string name; lines >> name;) {
    uint64_t kib = 0;
    if (name == "MemAvailable:" && lines >> kib) return kib << 10;
  }
  return 0;
}

/// The free memory, whoever may use it.
uint64_t free_machine_memory() {
  const uint64_t available = available_bytes();
  if (available != 0) return available;
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? uint64_t(pages) * uint64_t(page_bytes) : 0;
}

}  // namespace

uint64_t free_memory(const Backend& backend) {
  const DeviceInfo& device = backend.device();
  const bool is_host = device.backend == BackendKind::kCpu || device.software;
  return is_host ? free_host_memory() : backend.free_bytes();
}

uint64_t free_host_memory() {
  const uint64_t free = free_machine_memory();
  const auto left = ControlGroups::of_process().bytes_left();
  // 0 would mean that it is not known.
  return left ? std::min(free, std::max<uint64_t>(*left, 1)) : free;
}

}  // namespace tokamak
