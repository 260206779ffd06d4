#include <unistd.h>

#include "base/system/descriptors.h"

namespace tokamak {

int wait_for_descriptors(std::span<pollfd> waited, int milliseconds) {
  return ::poll(waited.data(), nfds_t(waited.size()), milliseconds);
}

int flush_descriptor(int number) {
  return ::fsync(number);
}

}  // namespace tokamak
