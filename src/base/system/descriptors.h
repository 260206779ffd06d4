// Calls on file descriptors in which the systems of POSIX differ. For the *_posix.cpp beside it
// alone.
#pragma once
#include <poll.h>

#include <span>

namespace tokamak {

/// poll(), of terminals, too.
int wait_for_descriptors(std::span<pollfd> waited, int milliseconds);

/// Returns 0 when all of the file is on the disk, else -1 with errno.
int flush_descriptor(int number);

}  // namespace tokamak
