#include "base/beside.h"

#include <gtest/gtest.h>

#include <atomic>

namespace tokamak {
namespace {

TEST(Beside, RunsWhileTheCallerGoesOn) {
  std::atomic<bool> may_end = false;
  int result = 0;
  Beside work([&] {
    while (!may_end) {
    }
    result = 7;
  });
  may_end = true;  // never reached if the work ran at once
  work.wait();
  EXPECT_EQ(result, 7);
}

TEST(Beside, IsWaitedForByTheDestructor) {
  int result = 0;
  {
    Beside work([&] { result = 7; });
  }
  EXPECT_EQ(result, 7);
}

}  // namespace
}  // namespace tokamak
