#include "speech/whisper_segments.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

WhisperTokens tokens() {
  WhisperTokens t;
  t.end = 50;
  t.no_timestamps = 60;
  t.first_timestamp = 61;
  return t;
}

uint32_t at(double seconds) {
  return 61 + uint32_t(seconds * 50 + 0.5);
}

WindowSegments cut(const std::vector<uint32_t>& written, double seconds = 30) {
  return cut_into_segments(tokens(), written, seconds);
}

TEST(WhisperSegments, BeginTheNextWindowWhereTheLastWholeSegmentEnds) {
  const auto found = cut({at(0), 1, 2, at(2.5), at(2.5), 3, at(4), at(5), 4, 5});
  ASSERT_EQ(found.segments.size(), 2u);
  EXPECT_NEAR(found.segments[0].start, 0, 1e-9);
  EXPECT_NEAR(found.segments[0].end, 2.5, 1e-9);
  EXPECT_EQ(found.segments[0].ids, (std::vector<uint32_t>{1, 2}));
  EXPECT_NEAR(found.segments[1].start, 2.5, 1e-9);
  EXPECT_NEAR(found.segments[1].end, 4, 1e-9);
  EXPECT_NEAR(found.seconds, 4, 1e-9);
}

TEST(WhisperSegments, TakeTheWholeWindowWhereItEndsInSilence) {
  const auto found = cut({at(0), 1, at(2), at(3), 2, at(4)});
  ASSERT_EQ(found.segments.size(), 2u);
  EXPECT_NEAR(found.segments[1].start, 3, 1e-9);
  EXPECT_NEAR(found.segments[1].end, 4, 1e-9);
  EXPECT_NEAR(found.seconds, 30, 1e-9);
}

TEST(WhisperSegments, AreTheWholeWindowWithoutPairs) {
  const auto found = cut({at(0.5), 1, 2}, 7);
  ASSERT_EQ(found.segments.size(), 1u);
  EXPECT_NEAR(found.segments[0].start, 0.5, 1e-9);
  EXPECT_NEAR(found.segments[0].end, 0.5, 1e-9) << "the only time that the model said";
  EXPECT_NEAR(found.seconds, 7, 1e-9);
}

TEST(WhisperSegments, NeverGoBeyondTheSound) {
  const auto found = cut({at(0), 1, at(29), at(29), 2, at(30)}, 7);
  ASSERT_EQ(found.segments.size(), 2u);
  EXPECT_LE(found.segments[0].end, 7);
  EXPECT_LE(found.segments[1].end, 7);
  EXPECT_NEAR(found.seconds, 7, 1e-9);
}

TEST(WhisperSegments, LeaveOutWhatHasNoText) {
  EXPECT_TRUE(cut({at(0), at(1)}).segments.empty());
  EXPECT_TRUE(cut({}).segments.empty());
  EXPECT_NEAR(cut({}).seconds, 30, 1e-9);
}

}  // namespace
}  // namespace tokamak
