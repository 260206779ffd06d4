// Worker: a thread that does one job after the other.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tokamak::serve {

class Worker {
 public:
  Worker() : thread_([this] { run(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Ends after the job in flight.
  ~Worker() {
    {
      const std::scoped_lock lock(mutex_);
      ends_ = true;
    }
    wakes_.notify_one();
    thread_.join();
  }

  /// Any thread may call it.
  void post(std::function<void()> job) {
    {
      const std::scoped_lock lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    wakes_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wakes_.wait(lock, [this] { return ends_ || !jobs_.empty(); });
      if (ends_) return;
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<std::function<void()>> jobs_;
  bool ends_ = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace tokamak::serve
