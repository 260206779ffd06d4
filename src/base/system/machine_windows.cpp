#include <windows.h>

#include "base/system/machine.h"
// After windows.h, which it needs.
#include <psapi.h>

namespace tokamak {

uint64_t free_machine_memory() {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof status;
  return ::GlobalMemoryStatusEx(&status) ? status.ullAvailPhys : 0;
}

uint64_t peak_memory() {
  PROCESS_MEMORY_COUNTERS counters = {};
  return ::GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof counters)
             ? counters.PeakWorkingSetSize
             : 0;
}

std::optional<MachineTimes> machine_times() {
  return std::nullopt;
}

std::string system_processor_name() {
  return "";
}

uint32_t fast_cores() {
  return 0;
}

/// Handles are as many as there is memory for.
void allow_open_files(uint64_t) {}

}  // namespace tokamak
