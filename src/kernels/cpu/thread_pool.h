// The threads that compute the steps of the processor backend.
//
// Work comes in pieces. Each thread has a share of them, which it takes from a few at a time; one
// that has none left takes from the shares of others, so that a core that is taken away by another
// program costs a piece and not the step. What a piece computes depends on the piece alone: results
// are equal, bit for bit, for any number of threads.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
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

  uint32_t threads() const { return uint32_t(shares_.size()); }

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

  /// A thread's share of a job. The upper half of `next` is the job, the lower half the first of
  /// its pieces that nobody has; kClosed: there is none. Threads advance it by compare and
  /// exchange, which succeeds only while the job lasts: once all its pieces are done, all shares
  /// are closed.
  struct alignas(64) Share {
    std::atomic<uint64_t> next = kClosed;
  };

  void run_ranges(size_t pieces, Call call);
  void serve(uint32_t thread);
  void work(uint32_t thread, uint32_t job);
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
  std::atomic<bool> is_busy_ = false;  // a caller is in run()
  std::vector<Share> shares_;
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
