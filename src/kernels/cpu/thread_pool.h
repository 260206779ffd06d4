// The threads that compute the steps of the processor backend.
//
// Work comes in pieces that threads take from a counter, a few at a time, so that a core that is
// taken away by another program costs a piece and not the step. What a piece computes depends on
// the piece alone: results are equal, bit for bit, for any number of threads.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace tokamak {

class ThreadPool {
 public:
  /// `threads` with the caller of run(), at least 1.
  explicit ThreadPool(uint32_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t threads() const { return uint32_t(workers_.size()) + 1; }

  /// Calls work(first, last) for ranges that together are [0, pieces), on all threads; returns once
  /// all are done. While another thread is in run(), the caller does everything by itself.
  template <typename Work>
  void run(size_t pieces, const Work& work) {
    run_ranges(pieces, {&work, [](const void* context, size_t first, size_t last) {
                          (*static_cast<const Work*>(context))(first, last);
                        }});
  }

 private:
  struct Call {
    const void* context;
    void (*function)(const void*, size_t, size_t);
  };

  void run_ranges(size_t pieces, Call call);
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

/// The instruction set that kernels for vectors use here: "AVX-512 VNNI", "AVX2"; "" where there is
/// none for which they are made.
std::string_view vector_set();

/// Cores that the process may use: those of its affinity mask, one of each pair of siblings, no
/// more than its control group's share of time.
uint32_t usable_cores();

}  // namespace tokamak
