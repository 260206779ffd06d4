#include "base/background_task.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tokamak {
namespace {

TEST(BackgroundTask, RunsWhileTheCallerContinues) {
  std::atomic<bool> may_end = false;
  int result = 0;
  BackgroundTask work([&] {
    while (!may_end) {
    }
    result = 7;
  });
  may_end = true;  // never reached if the work ran at once
  EXPECT_TRUE(work.wait());
  EXPECT_EQ(result, 7);
}

TEST(BackgroundTask, IsWaitedForByTheDestructor) {
  int result = 0;
  {
    BackgroundTask work([&] { result = 7; });
  }
  EXPECT_EQ(result, 7);
}

TEST(BackgroundTask, EndsWithAnErrorWhereMemoryRunsOut) {
  BackgroundTask work([] {
    std::vector<uint64_t> numbers;
    numbers.reserve(numbers.max_size() + 1);
  });
  const auto ended = work.wait();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kOutOfMemory);
}

}  // namespace
}  // namespace tokamak
