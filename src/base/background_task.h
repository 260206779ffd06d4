// Work that runs in the background of the caller.
#pragma once
#include <functional>
#include <memory>

#include "base/result.h"

namespace tokamak {

/// Runs `work` on a thread of its own, or at once where there are no threads, or the system has
/// none left. Whoever made it may read what `work` has written after wait(); the destructor waits,
/// too.
class BackgroundTask {
 public:
  explicit BackgroundTask(std::function<void()> work);
  BackgroundTask(const BackgroundTask&) = delete;
  ~BackgroundTask();
  /// Errors (kOutOfMemory): memory ran out in `work`, which has not ended what it does.
  Result<void> wait();

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace tokamak
