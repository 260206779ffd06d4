#include "base/background_task.h"

namespace tokamak {

struct BackgroundTask::Thread {};

BackgroundTask::BackgroundTask(std::function<void()> work) {
  work();
}

BackgroundTask::~BackgroundTask() = default;

Result<void> BackgroundTask::wait() {
  return {};
}

}  // namespace tokamak
