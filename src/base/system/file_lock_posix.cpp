#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "base/system/file_lock.h"

namespace tokamak {

Result<bool> try_lock(const File& file) {
  while (::flock(static_cast<int>(file.handle()), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) return invalid_input("{}", std::strerror(errno));
  }
  return true;
}

}  // namespace tokamak
