// The host's memory, and what a container may use of it.
#include <algorithm>

#include "base/control_group.h"
#include "base/system/machine.h"
#include "engine/memory.h"

namespace tokamak {

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
