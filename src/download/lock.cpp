#include "download/lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "hub/cache.h"

namespace tokamak::download {
namespace {

constexpr int kPauseMilliseconds = 200;

/// True while `path` is the file that is open here, and not removed or made anew.
bool is_still(int file, const std::string& path) {
  struct stat own{}, there{};
  return ::fstat(file, &own) == 0 && ::stat(path.c_str(), &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

}  // namespace

Lock::Lock(Lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

Lock::~Lock() {
  if (file_ >= 0) ::close(file_);
}

Result<Lock> Lock::take(const std::string& path, const std::function<bool()>& waiting) {
  for (;;) {
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
    Lock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (lock.file_ < 0) {
      const int error = errno;
      if (failed) {
        return invalid_input("{}: The folder for the lock cannot be made: {}.", path,
                             failed.message());
      }
      // Gone again since it was made: somebody removes the repository.
      if (error == ENOENT && waiting()) continue;
      return invalid_input("{}: The lock cannot be opened: {}.", path, std::strerror(error));
    }
    while (::flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) {
        return invalid_input("{}: The lock cannot be taken: {}.", path, std::strerror(errno));
      }
      if (!waiting()) return fail(ErrorCode::kCancelled, "Stopped while waiting for another pull.");
      ::poll(nullptr, 0, kPauseMilliseconds);
    }
    if (is_still(lock.file_, path)) return lock;
  }
}

Result<Lock> Lock::take_repo(const std::string& cache, const std::string& repo,
                             const std::function<bool()>& waiting) {
  const std::filesystem::path folder = hub::repo_folder(cache, repo);
  return take(
      (std::filesystem::path(cache) / ".locks" / folder.filename() / "tokamak.lock").string(),
      waiting);
}

}  // namespace tokamak::download
