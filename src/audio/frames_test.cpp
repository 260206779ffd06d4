#include "audio/frames.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {
namespace {

TEST(LevelledFrames, AreTheSameAtAnyLoudness) {
  Samples loud, quiet;
  for (int i = 0; i < 240; ++i) {
    loud.push_back(0.5f + float(std::sin(i * 0.3)));
    quiet.push_back(loud.back() * 0.125f - 0.25f);
  }
  const auto a = levelled_frames(loud, 0.75f), b = levelled_frames(quiet, 0.75f);
  ASSERT_EQ(a.size(), 240u);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4) << i;
}

TEST(LevelledFrames, EndInZerosWhereOneIsNotWhole) {
  const auto frames = levelled_frames(Samples(81, 0.5f), 1);
  ASSERT_EQ(frames.size(), 160u);
  EXPECT_EQ(frames[80], 0);
  EXPECT_TRUE(levelled_frames({}, 1).empty());
}

}  // namespace
}  // namespace tokamak
