#include <thread>

#include "base/background_task.h"

namespace tokamak {

struct BackgroundTask::Thread {
  std::thread own;
};

BackgroundTask::BackgroundTask(std::function<void()> work)
    : thread_(std::make_unique<Thread>(std::thread(std::move(work)))) {}

BackgroundTask::~BackgroundTask() {
  wait();
}

void BackgroundTask::wait() {
  if (thread_->own.joinable()) thread_->own.join();
}

}  // namespace tokamak
