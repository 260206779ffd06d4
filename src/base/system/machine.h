// The machine and what this process has of it. Native builds only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace tokamak {

/// The memory that is free, whoever may use it, or all that there is where the system does not
/// count the free part; 0: not known.
uint64_t free_machine_memory();

/// The most memory that this process has had at once, in bytes; 0: not known.
uint64_t peak_memory();

/// The system's own name for the processor; "" where it has none.
std::string system_processor_name();

/// The cores that are as fast as the fastest one; 0 where the system does not tell them apart.
uint32_t fast_cores();

/// How busy the machine is, whoever keeps it so.
struct MachineTimes {
  double load = 0;                 // programs that ran or waited to, on average of a minute
  uint32_t processors = 0;         // that count below
  uint64_t ticks = 0, stolen = 0;  // of all processors since it began; of them, for other machines
};

/// Nothing where the system does not count it, which Linux does.
std::optional<MachineTimes> machine_times();

/// Lets this process have that number of files and sockets open at once, or as many as it may.
void allow_open_files(uint64_t wanted);

}  // namespace tokamak
