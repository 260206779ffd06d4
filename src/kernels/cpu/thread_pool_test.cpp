#include "kernels/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

namespace tokamak {
namespace {

TEST(ThreadPool, DoesEveryPieceOnce) {
  for (const uint32_t threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const size_t pieces : {0u, 1u, 2u, 63u, 1000u}) {
      std::vector<std::atomic<int>> done(pieces);
      pool.run(pieces, [&](size_t first, size_t last) {
        for (size_t i = first; i < last; ++i) ++done[i];
      });
      for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
    }
  }
}

/// Jobs that follow each other at once, whose data is gone when the next one begins: a late worker
/// that took a piece of the job before would write into what is no more.
TEST(ThreadPool, NoWorkerTakesAPieceOfAJobThatIsDone) {
  ThreadPool pool(4);
  for (size_t job = 0; job < 20000; ++job) {
    const size_t pieces = 1 + job % 13;
    auto values = std::make_unique<size_t[]>(pieces);
    pool.run(pieces, [&, job](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) values[i] += job;
    });
    ASSERT_EQ(std::accumulate(values.get(), values.get() + pieces, size_t{0}), job * pieces);
  }
}

TEST(ThreadPool, SecondCallerDoesItsWorkAlone) {
  ThreadPool pool(3);
  std::atomic<size_t> inner = 0;
  pool.run(8, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      pool.run(5, [&](size_t from, size_t to) { inner += to - from; });
    }
  });
  EXPECT_EQ(inner, 40u);
}

TEST(ThreadPool, GivesTheCallerAnExceptionOfAnyThread) {
  ThreadPool pool(4);
  for (size_t bad = 0; bad < 64; ++bad) {
    std::atomic<size_t> others = 0;
    const auto work = [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        if (i == bad) throw std::bad_alloc();
        ++others;
      }
    };
    EXPECT_THROW(pool.run(64, work), std::bad_alloc);
    EXPECT_LT(others, 64u);
    std::atomic<size_t> done = 0;
    pool.run(64, [&](size_t first, size_t last) { done += last - first; });
    ASSERT_EQ(done, 64u) << "the pool goes on after " << bad;
  }
}

TEST(ThreadPool, CoresAreAtLeastOne) {
  EXPECT_GE(usable_cores(), 1u);
}

}  // namespace
}  // namespace tokamak
