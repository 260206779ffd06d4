// Polling, where being woken takes longer than what is waited for.
#pragma once
#include <chrono>
#include <functional>

namespace tokamak {

/// How long to poll without a pause, how long the pauses after that are, and when to give up.
struct Backoff {
  std::chrono::microseconds spin, pause, timeout;
};

/// Calls `is_done` until it is true: true then, false when the time is up. Polls once where there
/// are no threads: what is waited for comes when the program has returned.
bool poll_until_true(const std::function<bool()>& is_done, const Backoff& backoff);

}  // namespace tokamak
