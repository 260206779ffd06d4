#include "download/lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tokamak::download {
namespace {

constexpr int kPauseMilliseconds = 200;

}  // namespace

Lock::Lock(Lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

Lock::~Lock() {
  if (file_ >= 0) ::close(file_);
}

Result<Lock> Lock::take(const std::string& path, const std::function<bool()>& waiting) {
  Lock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (lock.file_ < 0) {
    return invalid_input("{}: The lock cannot be opened: {}.", path, std::strerror(errno));
  }
  while (::flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return invalid_input("{}: The lock cannot be taken: {}.", path, std::strerror(errno));
    }
    if (!waiting()) return fail(ErrorCode::kCancelled, "Stopped while waiting for another pull.");
    ::poll(nullptr, 0, kPauseMilliseconds);
  }
  return lock;
}

}  // namespace tokamak::download
