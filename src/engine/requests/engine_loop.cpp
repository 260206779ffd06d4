#include "engine/requests/engine_loop.h"

#include "base/guarded.h"

namespace tokamak {

EngineLoop::EngineLoop(std::unique_ptr<Engine> engine, Scheduler* scheduler, Options options)
    : engine_(std::move(engine)), scheduler_(scheduler), options_(std::move(options)) {
  if (options_.has_thread) thread_ = std::thread([this] { run(); });
}

bool EngineLoop::post(std::function<void(Engine&)> job) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_closing_) return false;
    jobs_.push_back(std::move(job));
  }
  wakes_.notify_one();
  return true;
}

bool EngineLoop::turn(bool waits) {
  std::vector<std::function<void(Engine&)>> jobs;
  {
    const std::scoped_lock lock(mutex_);
    jobs.swap(jobs_);
  }
  for (const auto& job : jobs) contained([&] { job(*engine_); });
  bool continues = false;
  if (scheduler_ != nullptr) {
    // An error has been given to every request that it ended.
    contained([&] { continues = scheduler_->step().value_or(false); });
  }
  if (options_.turned) contained(options_.turned);
  if (continues && waits) contained([&] { static_cast<void>(scheduler_->wait()); });
  return continues;
}

void EngineLoop::contained(const std::function<void()>& work) {
  const auto run = [](const auto& call) {
    return guarded([&]() -> Result<void> {
      call();
      return {};
    });
  };
  const Result<void> ran = run(work);
  if (ran || scheduler_ == nullptr) return;
  // Each call ends some requests, also one that fails, as where one of them finds no memory again.
  while (!run([&] { scheduler_->abandon(ran.error()); })) {
  }
}

void EngineLoop::run() {
  bool continues = false;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wakes_.wait(lock, [&] { return continues || is_closing_ || !jobs_.empty(); });
      if (!continues && jobs_.empty()) return;
    }
    continues = turn(true);
  }
}

void EngineLoop::close() {
  const std::scoped_lock only(closing_);
  {
    const std::scoped_lock lock(mutex_);
    is_closing_ = true;
  }
  wakes_.notify_one();
  if (thread_.joinable()) thread_.join();
  // Without a thread; and with one there is nothing left.
  while (turn(true)) {
  }
}

}  // namespace tokamak
