// The machine and what this process has of it. Native builds only.
#pragma once
#include <cstdint>

namespace tokamak {

/// The memory that is free, whoever may use it, or all that there is where the system does not
/// count the free part; 0: not known.
uint64_t free_machine_memory();

/// The most memory that this process has had at once, in bytes; 0: not known.
uint64_t peak_memory();

/// Lets this process have that number of files and sockets open at once, or as many as it may.
void allow_open_files(uint64_t wanted);

}  // namespace tokamak
