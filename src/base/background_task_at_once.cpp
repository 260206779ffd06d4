#include "base/background_task.h"

namespace tokamak {

struct BackgroundTask::Thread {};

BackgroundTask::BackgroundTask(std::function<void()> work) {
  work();
}

BackgroundTask::~BackgroundTask() = default;

void BackgroundTask::wait() {}

}  // namespace tokamak
