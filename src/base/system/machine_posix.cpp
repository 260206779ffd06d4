#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/system/machine.h"

namespace tokamak {
namespace {

/// The number in the line "MemAvailable:   12345678 kB" of Linux; 0 without such a line.
uint64_t available_bytes() {
  std::ifstream lines("/proc/meminfo");
  for (std::string name; lines >> name;) {
    uint64_t kib = 0;
    if (name == "MemAvailable:" && lines >> kib) return kib << 10;
  }
  return 0;
}

}  // namespace

uint64_t free_machine_memory() {
  const uint64_t available = available_bytes();
  if (available != 0) return available;
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? uint64_t(pages) * uint64_t(page_bytes) : 0;
}

uint64_t peak_memory() {
  rusage usage = {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return uint64_t(usage.ru_maxrss) * 1024;
}

void allow_open_files(uint64_t wanted) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, rlim_t(wanted));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace tokamak
