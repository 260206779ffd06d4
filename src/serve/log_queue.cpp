#include "serve/log_queue.h"

#include <utility>

namespace tokamak::serve {
namespace {

/// How long the writer waits for room before it looks whether the queue ends.
constexpr int kWaitMilliseconds = 100;
/// Waits of the writer while the queue ends, a second together.
constexpr int kLastWaits = 10;

}  // namespace

LogQueue::LogQueue(File output, std::function<std::string(uint64_t)> dropped_line,
                   size_t limit_bytes)
    : output_(std::move(output)),
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
    const auto written = output_.write_some(text, kWaitMilliseconds);
    if (!written) return;
    text.remove_prefix(*written);
    if (*written > 0) continue;
    const std::scoped_lock lock(mutex_);
    if (ends_ && ++waits == kLastWaits) return;
  }
}

}  // namespace tokamak::serve
