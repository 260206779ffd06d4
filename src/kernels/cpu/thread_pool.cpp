#include "kernels/cpu/thread_pool.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace tokamak {
namespace {

/// Times that a thread takes from its share.
constexpr size_t kTakes = 8;
/// A worker looks for the next job for so long before it sleeps: longer than what lies between two
/// jobs of a step, shorter than what lies between two steps of a chat.
constexpr auto kSpin = std::chrono::microseconds(50);

}  // namespace

class ThreadPool::Workers {
 public:
  explicit Workers(uint32_t threads);
  ~Workers();
  uint32_t threads() const { return uint32_t(shares_.size()); }
  void run(size_t pieces, Call call);

 private:
  /// A thread's share of a job. The upper half of `next` is the job, the lower half the first of
  /// its pieces that nobody has; kClosed: there is none. Threads advance it by compare and
  /// exchange, which succeeds only while the job lasts: once all its pieces are done, all shares
  /// are closed.
  struct alignas(64) Share {
    std::atomic<uint64_t> next = kClosed;
  };

  void serve(uint32_t thread);
  void work(uint32_t thread, uint32_t job);
  void call(size_t first, size_t last);
  bool take(uint32_t share, uint32_t job, size_t& taken);
  /// The first piece of a share.
  size_t begin_of(uint32_t share, size_t pieces) const { return pieces * share / threads(); }

  std::atomic<uint32_t> jobs_ = 0;  // how many there were: what workers look at and wait for
  std::atomic<bool> ends_ = false;
  // The job at hand; written while there is none.
  std::atomic<size_t> pieces_ = 0, grain_ = 1;
  std::atomic<const void*> context_ = nullptr;
  std::atomic<void (*)(const void*, size_t, size_t)> function_ = nullptr;
  alignas(64) std::atomic<size_t> done_ = 0;
  std::atomic<bool> has_failed_ = false;  // a piece of it ended with an exception
  std::exception_ptr failure_;            // the first; read once all pieces are done
  std::atomic<bool> is_busy_ = false;     // a caller is in run()
  std::vector<Share> shares_;
  std::vector<std::thread> workers_;

  static constexpr uint64_t kClosed = 0xffffffff;
};

ThreadPool::Workers::Workers(uint32_t threads) : shares_(threads) {
  workers_.reserve(threads - 1);
  try {
    for (uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this, i] { serve(i); });
  } catch (const std::system_error&) {
    // The system has no more threads to give: the others do the shares of those that are missing.
  }
}

ThreadPool::Workers::~Workers() {
  ends_ = true;
  ++jobs_;
  jobs_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Workers::run(size_t pieces, Call call) {
  if (pieces == 0) return;
  if (workers_.empty() || pieces == 1 || pieces >= kClosed || is_busy_.exchange(true)) {
    return call.function(call.context, 0, pieces);
  }
  const uint32_t job = jobs_.load(std::memory_order_relaxed) + 1;
  pieces_.store(pieces, std::memory_order_relaxed);
  grain_.store(std::max<size_t>(1, pieces / (threads() * kTakes)), std::memory_order_relaxed);
  context_.store(call.context, std::memory_order_relaxed);
  function_.store(call.function, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  for (uint32_t i = 0; i < threads(); ++i) {
    const size_t begin = begin_of(i, pieces);
    const uint64_t first = begin < begin_of(i + 1, pieces) ? begin : kClosed;
    shares_[i].next.store(uint64_t{job} << 32 | first, std::memory_order_release);
  }
  jobs_ = job;
  jobs_.notify_all();
  work(0, job);
  while (done_.load(std::memory_order_acquire) != pieces) hwy::Pause();
  std::exception_ptr failure;
  if (has_failed_.exchange(false)) failure = std::exchange(failure_, nullptr);
  is_busy_ = false;
  if (failure) std::rethrow_exception(failure);
}

/// Does pieces of the job at hand. An exception, such as bad_alloc, is kept for the caller of
/// run().
void ThreadPool::Workers::call(size_t first, size_t last) {
  try {
    function_.load(std::memory_order_relaxed)(context_.load(std::memory_order_relaxed), first,
                                              last);
  } catch (...) {
    if (!has_failed_.exchange(true)) failure_ = std::current_exception();
  }
}

/// Does pieces of a job for as long as there are some: of the thread's own share, then of others.
void ThreadPool::Workers::work(uint32_t thread, uint32_t job) {
  size_t taken = 0;
  for (uint32_t i = 0; i < threads(); ++i) {
    const uint32_t share = (thread + i) % threads();
    while (take(share, job, taken)) {
    }
  }
  if (taken != 0) done_.fetch_add(taken, std::memory_order_acq_rel);
}

/// Does a few pieces of a share, and adds their number to `taken`. False if it has none.
bool ThreadPool::Workers::take(uint32_t share, uint32_t job, size_t& taken) {
  std::atomic<uint64_t>& next = shares_[share].next;
  uint64_t seen = next.load(std::memory_order_acquire);
  const uint64_t first = seen & kClosed;
  if (seen >> 32 != job || first == kClosed) return false;
  const size_t end = begin_of(share + 1, pieces_.load(std::memory_order_relaxed));
  const uint64_t last = std::min<uint64_t>(first + grain_.load(std::memory_order_relaxed), end);
  const uint64_t then = uint64_t{job} << 32 | (last >= end ? kClosed : last);
  // Succeeds only if what was read above is of this job, some of which was still to be done.
  if (!next.compare_exchange_strong(seen, then, std::memory_order_acq_rel)) return true;
  call(size_t(first), size_t(last));
  taken += size_t(last - first);
  return true;
}

void ThreadPool::Workers::serve(uint32_t thread) {
  uint32_t job = 0;
  while (!ends_) {
    const auto until = std::chrono::steady_clock::now() + kSpin;
    uint32_t now = jobs_.load(std::memory_order_acquire);
    while (now == job && std::chrono::steady_clock::now() < until) {
      for (int i = 0; i < 16 && now == job; ++i) {
        hwy::Pause();
        now = jobs_.load(std::memory_order_acquire);
      }
    }
    if (now == job) {
      jobs_.wait(job);
      continue;
    }
    job = now;
    work(thread, job);
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
