#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/system/terminal.h"

namespace tokamak {
namespace {

int number_of(StandardStream stream) {
  return static_cast<int>(stream);  // in their order
}

}  // namespace

bool is_terminal(StandardStream stream) {
  return ::isatty(number_of(stream)) != 0;
}

size_t columns_of(StandardStream stream) {
  winsize size = {};
  if (!is_terminal(stream) || ::ioctl(number_of(stream), TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool open_if_closed(StandardStream stream) {
  if (::fcntl(number_of(stream), F_GETFD) >= 0 || errno != EBADF) return false;
  // The lowest number that is free is this one.
  static_cast<void>(!::open("/dev/null", O_RDWR));
  return true;
}

Result<void> write_to_reader(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) {
      ::signal(SIGPIPE, SIG_DFL);
      ::raise(SIGPIPE);
    }
    if (written < 0) return invalid_input("{}", std::strerror(errno));
    text.remove_prefix(size_t(written));
  }
  return {};
}

SilentErrors::SilentErrors() : before_(::dup(STDERR_FILENO)) {
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (before_ >= 0 && nothing >= 0) ::dup2(nothing, STDERR_FILENO);
  if (nothing >= 0) ::close(nothing);
}

SilentErrors::~SilentErrors() {
  if (before_ < 0) return;
  ::dup2(static_cast<int>(before_), STDERR_FILENO);
  ::close(static_cast<int>(before_));
}

}  // namespace tokamak
