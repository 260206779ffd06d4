// Mailbox: the meeting place of the thread that runs the engine and of who takes what it brings.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace tokamak {

class StreamLoop;

struct Mailbox {
  std::weak_ptr<StreamLoop> pump;  // where the model has no thread
  std::atomic<bool> is_cancelled = false;
  /// Held while what has arrived changes.
  std::mutex mutex;

  /// Wakes who waits and calls the receiver of on_ready(). REQUIRES: the mutex is not held.
  void announce();
  /// The receiver of announcements; null: none. It is called at once where something has come,
  /// so that no wake-up is lost.
  void on_ready(std::function<void()> ready, const std::function<bool()>& has_come);
  /// Cancels, and ends the announcements: afterwards their receiver may be gone.
  void drop();
  /// Waits, or runs the model where nobody else does, until `has_come`, which is asked under the
  /// mutex. False when the time is over; without one there is no end.
  bool wait(std::optional<std::chrono::nanoseconds> timeout, const std::function<bool()>& has_come);

 private:
  std::condition_variable arrived_;
  /// Held while `ready_` runs, which may drop the mailbox or choose another receiver.
  std::recursive_mutex notifying_;
  std::function<void()> ready_;
  bool is_dropped_ = false;
};

}  // namespace tokamak
