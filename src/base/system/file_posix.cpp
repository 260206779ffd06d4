#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/system/descriptors.h"
#include "base/system/file.h"

namespace tokamak {
namespace {

/// The reason of the call that has just failed.
Failure last_reason() {
  const int error = errno;
  const ErrorCode code = error == ENOSPC || error == EDQUOT ? ErrorCode::kOutOfMemory
                         : error == ENOENT                  ? ErrorCode::kUsage
                                                            : ErrorCode::kInvalidInput;
  return fail(code, "{}", std::strerror(error));
}

FileState state_of(const struct stat& status) {
  const FileKind kind = S_ISREG(status.st_mode)   ? FileKind::kFile
                        : S_ISDIR(status.st_mode) ? FileKind::kFolder
                                                  : FileKind::kOther;
  return {.kind = kind,
          .bytes = uint64_t(status.st_size),
          .stored_bytes = uint64_t(status.st_blocks) * 512,
          .identity = {.device = uint64_t(status.st_dev), .number = status.st_ino}};
}

int flags_of(FileMode mode) {
  switch (mode) {
    case FileMode::kRead:
      return O_RDONLY | O_NONBLOCK;
    case FileMode::kStream:
      return O_RDONLY;
    case FileMode::kChange:
      return O_RDWR;
    case FileMode::kCreate:
      return O_RDWR | O_CREAT;
    case FileMode::kReplace:
      return O_WRONLY | O_CREAT | O_TRUNC;
    case FileMode::kAppend:
      return O_WRONLY | O_CREAT | O_APPEND;
  }
  return O_RDONLY;
}

int number_of(File::Handle handle) {
  return static_cast<int>(handle);
}

/// Calls it until no signal interrupts it.
template <typename Call>
auto uninterrupted(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace

Result<FileState> file_state(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return last_reason();
  return state_of(status);
}

Result<FileState> link_state(const std::string& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return last_reason();
  return state_of(status);
}

bool is_readable(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

Result<void> check_writable(const std::string& path) {
  if (::access(path.c_str(), W_OK) != 0) return last_reason();
  return {};
}

Result<File> File::open(const std::string& path, FileMode mode, FileRules rules) {
  const int flags = flags_of(mode) | O_CLOEXEC | (rules.follows_links ? 0 : O_NOFOLLOW);
  const int number = ::open(path.c_str(), flags, rules.is_private ? 0600 : 0644);
  if (number < 0) return last_reason();
  return File(number, true);
}

File File::standard(StandardStream stream) {
  return borrowed(static_cast<int>(stream));  // in their order
}

void File::close() {
  if (is_open() && is_owner_) ::close(number_of(handle_));
  handle_ = kNone;
}

Result<FileState> File::state() const {
  struct stat status = {};
  if (::fstat(number_of(handle_), &status) != 0) return last_reason();
  return state_of(status);
}

Result<void> File::make_private() {
  if (::fchmod(number_of(handle_), 0600) != 0) return last_reason();
  return {};
}

Result<size_t> File::read(std::span<std::byte> out) {
  const ssize_t count =
      uninterrupted([&] { return ::read(number_of(handle_), out.data(), out.size()); });
  if (count < 0) return last_reason();
  return size_t(count);
}

Result<void> File::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        uninterrupted([&] { return ::write(number_of(handle_), bytes.data(), bytes.size()); });
    if (count < 0) return last_reason();
    bytes.remove_prefix(size_t(count));
  }
  return {};
}

Result<size_t> File::read_at(uint64_t offset, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = uninterrupted([&] {
      return ::pread(number_of(handle_), out.data() + done, out.size() - done,
                     off_t(offset + done));
    });
    if (count < 0) return last_reason();
    if (count == 0) break;
    done += size_t(count);
  }
  return done;
}

Result<void> File::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = uninterrupted(
        [&] { return ::pwrite(number_of(handle_), bytes.data(), bytes.size(), off_t(offset)); });
    if (count < 0) return last_reason();
    bytes = bytes.subspan(size_t(count));
    offset += uint64_t(count);
  }
  return {};
}

Result<void> File::resize(uint64_t bytes) {
  if (::ftruncate(number_of(handle_), off_t(bytes)) != 0) return last_reason();
  return {};
}

Result<void> File::flush() {
  if (flush_descriptor(number_of(handle_)) != 0) return last_reason();
  return {};
}

bool File::has_input(bool waits) const {
  pollfd waited = {.fd = number_of(handle_), .events = POLLIN, .revents = 0};
  return wait_for_descriptors({&waited, 1}, waits ? -1 : 0) > 0;
}

Result<size_t> File::write_some(std::string_view bytes, int milliseconds) {
  pollfd waited = {.fd = number_of(handle_), .events = POLLOUT, .revents = 0};
  if (wait_for_descriptors({&waited, 1}, milliseconds) <= 0) return 0;  // a signal ends it, too
  // A pipe that is ready takes so much without waiting.
  const size_t most = std::min<size_t>(bytes.size(), PIPE_BUF);
  const ssize_t count = ::write(number_of(handle_), bytes.data(), most);
  if (count < 0 && errno != EINTR && errno != EAGAIN) return last_reason();
  return size_t(std::max<ssize_t>(count, 0));
}

}  // namespace tokamak
