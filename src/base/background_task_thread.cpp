#include <thread>

#include "base/background_task.h"
#include "base/guarded.h"

namespace tokamak {

struct BackgroundTask::Thread {
  void run() {
    ended = guarded([this]() -> Result<void> {
      work();
      return {};
    });
  }

  std::function<void()> work;
  Result<void> ended;
  std::thread own;
};

BackgroundTask::BackgroundTask(std::function<void()> work) : thread_(std::make_unique<Thread>()) {
  thread_->work = std::move(work);
  const auto started = guarded([this]() -> Result<void> {
    thread_->own = std::thread([own = thread_.get()] { own->run(); });
    return {};
  });
  if (!started) thread_->run();
}

BackgroundTask::~BackgroundTask() {
  static_cast<void>(wait());
}

Result<void> BackgroundTask::wait() {
  if (thread_->own.joinable()) thread_->own.join();
  return thread_->ended;
}

}  // namespace tokamak
