#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
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

/// The numbers in the line "cpu  user nice system idle iowait irq softirq steal guest ..." of all
/// processors, and the lines "cpu0 ..." of each; guests are within the first two.
void add_processor_times(std::istream& lines, MachineTimes& times) {
  constexpr size_t kKinds = 8;
  for (std::string line; std::getline(lines, line) && line.starts_with("cpu");) {
    std::istringstream numbers(line);
    std::string name;
    numbers >> name;
    if (name != "cpu") {
      ++times.processors;
      continue;
    }
    uint64_t ticks = 0;
    for (size_t i = 0; i < kKinds && numbers >> ticks; ++i) {
      times.ticks += ticks;
      if (i == kKinds - 1) times.stolen = ticks;
    }
  }
}

}  // namespace

std::optional<MachineTimes> machine_times() {
  std::ifstream load("/proc/loadavg"), stat("/proc/stat");
  MachineTimes times;
  if (!(load >> times.load)) return std::nullopt;
  add_processor_times(stat, times);
  return times.processors == 0 ? std::nullopt : std::optional(times);
}

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

std::string system_processor_name() {
  return "";
}

uint32_t fast_cores() {
  return 0;
}

void allow_open_files(uint64_t wanted) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, rlim_t(wanted));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace tokamak
