#include "kernels/cpu/thread_pool.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace tokamak {
namespace {

/// Pieces are taken that many times by each thread, if they are of equal length.
constexpr size_t kTakesPerThread = 8;
/// A worker looks for the next job for so long before it sleeps: longer than what lies between two
/// jobs of a step, shorter than what lies between two steps of a chat.
constexpr auto kSpin = std::chrono::microseconds(50);

}  // namespace

class ThreadPool::Workers {
 public:
  explicit Workers(uint32_t threads) {
    for (uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
  }
  ~Workers();
  uint32_t threads() const { return uint32_t(workers_.size()) + 1; }
  void run(size_t pieces, Call call);

 private:
  void serve();
  bool take(uint64_t& seen);

  // A job is published by `next_`, whose upper half counts jobs and whose lower half is the first
  // piece that nobody has. Workers advance it by compare and exchange, which fails as soon as there
  // is another job: `next_` is closed before the fields of the next job are written.
  std::atomic<uint64_t> next_ = kClosed;
  std::atomic<size_t> pieces_ = 0, grain_ = 1, done_ = 0;
  std::atomic<const void*> context_ = nullptr;
  std::atomic<void (*)(const void*, size_t, size_t)> function_ = nullptr;
  std::atomic<uint32_t> jobs_ = 0;  // what sleeping workers wait for
  std::atomic<bool> ends_ = false;
  std::mutex mutex_;  // held by the caller of run()
  std::vector<std::thread> workers_;

  static constexpr uint64_t kClosed = 0xffffffff;
};

ThreadPool::Workers::~Workers() {
  ends_ = true;
  ++jobs_;
  jobs_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Workers::run(size_t pieces, Call call) {
  if (pieces == 0) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || workers_.empty() || pieces == 1 || pieces >= kClosed) {
    return call.function(call.context, 0, pieces);
  }
  const uint64_t job = (next_ >> 32) + 1;
  next_ = job << 32 | kClosed;
  pieces_ = pieces;
  grain_ = std::max<size_t>(1, pieces / (threads() * kTakesPerThread));
  done_ = 0;
  context_ = call.context;
  function_ = call.function;
  next_ = job << 32;
  ++jobs_;
  jobs_.notify_all();
  uint64_t seen = 0;
  while (take(seen)) {
  }
  while (done_ != pieces) hwy::Pause();
  next_ = job << 32 | kClosed;
}

/// Does some pieces of the job at hand. False if there is none; `seen` is what was looked at.
bool ThreadPool::Workers::take(uint64_t& seen) {
  seen = next_;
  const uint64_t first = seen & kClosed;
  const size_t pieces = pieces_, grain = grain_;
  const void* context = context_;
  const auto function = function_.load();
  if (first >= pieces) return false;
  const uint64_t last = std::min<uint64_t>(first + grain, pieces);
  uint64_t expected = seen;
  if (!next_.compare_exchange_strong(expected, (seen & ~kClosed) | last)) return true;
  function(context, size_t(first), size_t(last));
  done_ += size_t(last - first);
  return true;
}

void ThreadPool::Workers::serve() {
  uint32_t job = 0;
  while (!ends_) {
    uint64_t seen = 0;
    while (take(seen)) {
    }
    const auto until = std::chrono::steady_clock::now() + kSpin;
    bool found = false;
    while (!found && std::chrono::steady_clock::now() < until) {
      for (int i = 0; i < 16 && !found; ++i) {
        hwy::Pause();
        found = next_ != seen;
      }
    }
    if (found || ends_) continue;
    // A job that came after the last look changed the number already.
    const uint32_t now = jobs_;
    if (now == job) jobs_.wait(now);
    job = now;
  }
}

ThreadPool::ThreadPool(uint32_t threads) : workers_(std::make_unique<Workers>(threads)) {}

ThreadPool::~ThreadPool() = default;

uint32_t ThreadPool::threads() const {
  return workers_->threads();
}

void ThreadPool::run_ranges(size_t pieces, Call call) {
  workers_->run(pieces, call);
}

}  // namespace tokamak
