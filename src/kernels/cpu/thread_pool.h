// The threads that compute the steps of the processor backend.
//
// Work comes in pieces. Each thread has a share of them, which it takes from a few at a time; one
// that has none left takes from the shares of others, so that a core that is taken away by another
// program costs a piece and not the step. What a piece computes depends on the piece alone: results
// are equal, bit for bit, for any number of threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tokamak {

class ThreadPool {
 public:
  /// `threads` with the caller of run(), at least 1.
  explicit ThreadPool(uint32_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t threads() const;

  /// Calls work(first, last) for ranges that together are [0, pieces), on all threads; returns once
  /// all are done. While another thread is in run(), the caller does everything by itself. Throws
  /// what a call of work threw first, after all have ended.
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

  class Workers;

  void run_ranges(size_t pieces, Call call);

  std::unique_ptr<Workers> workers_;
};

/// The instruction set that kernels for vectors use here: "AVX-512 VNNI", "AVX2"; "" where there is
/// none for which they are made.
std::string_view vector_set();
/// Whether that is not the best one of the processor, since a lesser one was asked for
/// (vector_sets.h).
bool vectors_are_limited();

/// Cores that the process may use: those of its affinity mask, one of each pair of siblings, no
/// more than its control group's share of time.
uint32_t usable_cores();

}  // namespace tokamak
