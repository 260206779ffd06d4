#include "base/ask.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

using std::chrono::microseconds;

TEST(AskUntilTrue, EndsWithTheAnswer) {
  for (const microseconds eager : {microseconds(0), microseconds(1'000'000)}) {
    int asked = 0;
    EXPECT_TRUE(ask_until_true([&] { return ++asked == 5; },
                               {eager, microseconds(1), microseconds(60'000'000)}));
    EXPECT_EQ(asked, 5);
  }
}

TEST(AskUntilTrue, AsksAtLeastOnceAndGivesUp) {
  int asked = 0;
  const auto never = [&] { return ++asked < 0; };
  EXPECT_FALSE(ask_until_true(never, {microseconds(0), microseconds(1), microseconds(0)}));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(ask_until_true(never, {microseconds(100), microseconds(10), microseconds(300)}));
  EXPECT_GT(asked, 1);
}

}  // namespace
}  // namespace tokamak
