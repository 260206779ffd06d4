#include "base/poll.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

using std::chrono::microseconds;

TEST(PollUntilTrue, EndsWithTheAnswer) {
  for (const microseconds spin : {microseconds(0), microseconds(1'000'000)}) {
    int polls = 0;
    EXPECT_TRUE(poll_until_true([&] { return ++polls == 5; },
                                {spin, microseconds(1), microseconds(60'000'000)}));
    EXPECT_EQ(polls, 5);
  }
}

TEST(PollUntilTrue, PollsAtLeastOnceAndGivesUp) {
  int polls = 0;
  const auto never = [&] { return ++polls < 0; };
  EXPECT_FALSE(poll_until_true(never, {microseconds(0), microseconds(1), microseconds(0)}));
  EXPECT_EQ(polls, 1);
  EXPECT_FALSE(poll_until_true(never, {microseconds(100), microseconds(10), microseconds(300)}));
  EXPECT_GT(polls, 1);
}

}  // namespace
}  // namespace tokamak
