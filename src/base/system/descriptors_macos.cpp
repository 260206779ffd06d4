#include <fcntl.h>
#include <sys/select.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/system/descriptors.h"

namespace tokamak {

/// By select(): poll() of this system takes no devices, and a terminal is one.
int wait_for_descriptors(std::span<pollfd> waited, int milliseconds) {
  fd_set inputs, outputs;
  FD_ZERO(&inputs);
  FD_ZERO(&outputs);
  int above = 0;
  for (pollfd& one : waited) {
    one.revents = 0;
    if (one.fd < 0) continue;
    if (one.fd >= FD_SETSIZE) {
      errno = EINVAL;
      return -1;
    }
    if ((one.events & POLLIN) != 0) FD_SET(one.fd, &inputs);
    if ((one.events & POLLOUT) != 0) FD_SET(one.fd, &outputs);
    above = std::max(above, one.fd + 1);
  }
  timeval longest = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
  const int count =
      ::select(above, &inputs, &outputs, nullptr, milliseconds < 0 ? nullptr : &longest);
  if (count <= 0) return count;
  for (pollfd& one : waited) {
    if (one.fd < 0) continue;
    if (FD_ISSET(one.fd, &inputs)) one.revents = short(one.revents | POLLIN);
    if (FD_ISSET(one.fd, &outputs)) one.revents = short(one.revents | POLLOUT);
  }
  return count;
}

/// fsync() of this system leaves the bytes in the disk's own memory, which a power cut empties.
int flush_descriptor(int number) {
  if (::fcntl(number, F_FULLFSYNC) == 0) return 0;
  return ::fsync(number);  // of a file system that cannot do more
}

}  // namespace tokamak
