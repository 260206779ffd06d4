#include <mach/mach.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <sys/syslimits.h>

#include <algorithm>

#include "base/system/machine.h"

namespace tokamak {
namespace {

/// The memory that is free, and that which the system would give up without writing it; 0: not
/// known.
uint64_t available_bytes() {
  const mach_port_t host = ::mach_host_self();
  vm_size_t page_bytes = 0;
  vm_statistics64_data_t pages = {};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  const bool known =
      ::host_page_size(host, &page_bytes) == KERN_SUCCESS &&
      ::host_statistics64(host, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) ==
          KERN_SUCCESS;
  ::mach_port_deallocate(::mach_task_self(), host);
  return known ? (uint64_t(pages.free_count) + pages.inactive_count) * page_bytes : 0;
}

template <typename T>
T number_of(const char* name) {
  T number = 0;
  size_t bytes = sizeof number;
  return ::sysctlbyname(name, &number, &bytes, nullptr, 0) == 0 ? number : 0;
}

}  // namespace

std::optional<MachineTimes> machine_times() {
  return std::nullopt;
}

uint64_t free_machine_memory() {
  const uint64_t available = available_bytes();
  return available != 0 ? available : number_of<uint64_t>("hw.memsize");
}

uint64_t peak_memory() {
  rusage usage = {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return uint64_t(usage.ru_maxrss);  // bytes here, kilobytes elsewhere
}

std::string system_processor_name() {
  char name[128] = {};
  size_t bytes = sizeof name - 1;
  return ::sysctlbyname("machdep.cpu.brand_string", name, &bytes, nullptr, 0) == 0 ? name : "";
}

uint32_t fast_cores() {
  return number_of<uint32_t>("hw.perflevel0.physicalcpu");
}

void allow_open_files(uint64_t wanted) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  // It may be without limit, but no more than that is taken.
  limit.rlim_cur = std::min({limit.rlim_max, rlim_t(wanted), rlim_t(OPEN_MAX)});
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace tokamak
