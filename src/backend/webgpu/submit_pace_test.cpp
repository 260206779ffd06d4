#include "backend/webgpu/submit_pace.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(SubmitPace, StartsAsASlowDevice) {
  // A prompt of 512 tokens of a model with a billion parameters in 16 bits, and one token of it.
  const Cost prompt = {.bytes = 2'000'000'000, .flops = 1'000'000'000'000};
  const Cost token = {.bytes = 2'000'000'000, .flops = 2'000'000'000};
  EXPECT_DOUBLE_EQ(SubmitPace::nominal(prompt), 5);
  EXPECT_DOUBLE_EQ(SubmitPace::nominal(token), 0.1);
  const SubmitPace pace(0.25);
  EXPECT_TRUE(pace.is_long(5));
  EXPECT_FALSE(pace.is_long(0.1));
  EXPECT_DOUBLE_EQ(pace.limit(), 0.25);
}

TEST(SubmitPace, LearnsTheSpeedOfTheDevice) {
  SubmitPace pace(0.25);
  for (int i = 0; i < 20; ++i) pace.measured(0.25, 0.25 / 1000);
  EXPECT_FALSE(pace.is_long(200));
  EXPECT_TRUE(pace.is_long(300));
  pace.measured(1, 2);  // slower than it ever was, a measurement is enough
  EXPECT_DOUBLE_EQ(pace.limit(), 0.125);
  pace.measured(1, 0.001);  // one that ended soon proves little
  EXPECT_DOUBLE_EQ(pace.limit(), 0.25);
  pace.measured(0, 1);  // nothing to learn
  EXPECT_DOUBLE_EQ(pace.limit(), 0.25);
}

TEST(SubmitPace, WithoutALimitDividesNothing) {
  EXPECT_FALSE(SubmitPace(0).is_long(1e9));
}

TEST(SubmitRoom, TakesWhatFits) {
  const double nominal[] = {1, 1, 5, 1};
  SubmitRoom room = {.dispatches = 100, .seconds = 2.5};
  EXPECT_EQ(room.take(4, nominal), 2u);
  EXPECT_EQ(room.take(2, std::span(nominal).subspan(2)), 0u);
  // One that is longer than a submission may be is a submission of its own.
  room = {.dispatches = 100, .seconds = 2.5};
  EXPECT_EQ(room.take(2, std::span(nominal).subspan(2)), 1u);
  EXPECT_EQ(room.take(1, std::span(nominal).subspan(3)), 0u);
  room = {.dispatches = 3, .seconds = 2.5};
  EXPECT_EQ(room.take(4, {}), 3u);
  EXPECT_EQ(room.take(1, {}), 0u);
}

}  // namespace
}  // namespace tokamak
