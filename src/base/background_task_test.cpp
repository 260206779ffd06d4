#include "base/background_task.h"

#include <gtest/gtest.h>

#include <atomic>

namespace tokamak {
namespace {

TEST(BackgroundTask, RunsWhileTheCallerGoesOn) {
  std::atomic<bool> may_end = false;
  int result = 0;
  BackgroundTask work([&] {
    while (!may_end) {
    }
    result = 7;
  });
  may_end = true;  // never reached if the work ran at once
  work.wait();
  EXPECT_EQ(result, 7);
}

TEST(BackgroundTask, IsWaitedForByTheDestructor) {
  int result = 0;
  {
    BackgroundTask work([&] { result = 7; });
  }
  EXPECT_EQ(result, 7);
}

}  // namespace
}  // namespace tokamak
