#include "serve/log_queue.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace tokamak::serve {
namespace {

/// How long the writer waits for room before it looks whether the queue ends.
constexpr int kWaitMilliseconds = 100;
/// Waits of the writer while the queue ends, a second together.
constexpr int kLastWaits = 10;

}  // namespace

LogQueue::LogQueue(int descriptor, std::function<std::string(uint64_t)> dropped_line,
                   size_t limit_bytes)
    : descriptor_(descriptor),
      dropped_line_(std::move(dropped_line)),
      limit_bytes_(limit_bytes),
      thread_([this] { run(); }) {}

LogQueue::~LogQueue() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  wakes_.notify_one();
  thread_.join();
}

void LogQueue::write(std::string_view line) {
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() + line.size() > limit_bytes_) {
      ++dropped_;
      return;
    }
    waiting_ += line;
  }
  wakes_.notify_one();
}

void LogQueue::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wakes_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::string text = std::exchange(waiting_, {});
    const uint64_t dropped = std::exchange(dropped_, 0);
    if (dropped > 0) text += dropped_line_(dropped);
    lock.unlock();
    send(text);
    lock.lock();
  }
}

void LogQueue::send(std::string_view text) {
  for (int waits = 0; !text.empty();) {
    struct pollfd waited = {.fd = descriptor_, .events = POLLOUT, .revents = 0};
    if (poll(&waited, 1, kWaitMilliseconds) <= 0) {  // a signal ends it, too
      const std::scoped_lock lock(mutex_);
      if (ends_ && ++waits == kLastWaits) return;
      continue;
    }
    // A pipe that is ready takes so much without waiting.
    const ssize_t written =
        ::write(descriptor_, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;
    if (written > 0) text.remove_prefix(size_t(written));
  }
}

}  // namespace tokamak::serve
