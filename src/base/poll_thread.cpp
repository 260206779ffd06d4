#include <thread>

#include "base/poll.h"

namespace tokamak {

bool poll_until_true(const std::function<bool()>& is_done, const Backoff& backoff) {
  const auto start = std::chrono::steady_clock::now();
  while (!is_done()) {
    const auto elapsed = std::chrono::steady_clock::now() - start;
    if (elapsed >= backoff.timeout) return false;
    if (elapsed < backoff.spin) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(backoff.pause);
    }
  }
  return true;
}

}  // namespace tokamak
