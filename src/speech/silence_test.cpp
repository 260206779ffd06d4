#include "speech/silence.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {
namespace {

constexpr size_t kSecond = kSampleRate;

/// Tones and silence in turn, of these lengths in seconds.
Samples sound_of(std::initializer_list<double> seconds, double loudness = 0.5) {
  Samples out;
  bool is_tone = true;
  for (const double one : seconds) {
    const auto count = size_t(one * kSecond);
    for (size_t i = 0; i < count; ++i) {
      out.push_back(is_tone ? float(loudness * std::sin(double(i) * 0.3)) : 0);
    }
    is_tone = !is_tone;
  }
  return out;
}

struct Cut {
  double begin, end;
};

/// All pieces, in seconds from the beginning; the sound comes `step` samples at a time.
std::vector<Cut> cuts(const Samples& sound, size_t step, size_t max_samples = 30 * kSecond) {
  PieceFinder finder(max_samples);
  std::vector<Cut> out;
  size_t done = 0;
  for (size_t known = std::min(step, sound.size());; known = std::min(known + step, sound.size())) {
    const bool is_end = known == sound.size();
    while (done < known) {
      const Piece piece = finder.next(std::span(sound).subspan(done, known - done), is_end);
      if (piece.taken == 0) break;
      EXPECT_LE(piece.begin, piece.end);
      EXPECT_LE(piece.end, piece.taken);
      EXPECT_LE(piece.end - piece.begin, max_samples);
      if (piece.end > piece.begin) {
        out.push_back({seconds_of(done + piece.begin), seconds_of(done + piece.end)});
      }
      done += piece.taken;
    }
    if (is_end) break;
  }
  EXPECT_EQ(done, sound.size());
  return out;
}

TEST(PieceFinder, CutsWherePausesAre) {
  const auto found = cuts(sound_of({2, 0.5, 3, 0.6, 1.5}), 100 * kSecond);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NEAR(found[0].begin, 0, 0.01);
  EXPECT_NEAR(found[0].end, 2.1, 0.05);
  EXPECT_NEAR(found[1].begin, 2.4, 0.05);
  EXPECT_NEAR(found[1].end, 5.6, 0.05);
  EXPECT_NEAR(found[2].begin, 6.0, 0.05);
  EXPECT_NEAR(found[2].end, 7.6, 0.05);
}

TEST(PieceFinder, CutsAtTheSamePlacesWhileTheSoundComes) {
  const Samples sound = sound_of({2, 0.5, 3, 0.6, 1.5, 2, 1.2});
  const auto whole = cuts(sound, sound.size());
  for (const size_t step : {size_t{777}, size_t{8000}}) {
    const auto found = cuts(sound, step);
    ASSERT_EQ(found.size(), whole.size()) << step;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].begin, whole[i].begin, 0.11) << i;
      EXPECT_NEAR(found[i].end, whole[i].end, 0.11) << i;
    }
  }
}

TEST(PieceFinder, LeavesShortPausesAndShortWordsTogether) {
  EXPECT_EQ(cuts(sound_of({2, 0.2, 3}), 100 * kSecond).size(), 1u);
  EXPECT_EQ(cuts(sound_of({0.3, 0.4, 0.2, 0.4, 2}), 100 * kSecond).size(), 1u);
}

TEST(PieceFinder, CutsWhatHasNoPausesAtItsQuietestPlace) {
  Samples sound = sound_of({9});
  for (size_t i = 7 * kSecond; i < 7 * kSecond + kSecond / 10; ++i) sound[i] *= 0.1f;
  const auto found = cuts(sound, 100 * kSecond, 8 * kSecond);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0].end, 7.05, 0.1);
  EXPECT_NEAR(found[1].begin, found[0].end, 0.01);
}

TEST(PieceFinder, FindsNothingInSilence) {
  EXPECT_TRUE(cuts(Samples(3 * kSecond), 100 * kSecond).empty());
  EXPECT_TRUE(cuts(Samples(100), 100 * kSecond).empty());
  EXPECT_TRUE(cuts(Samples(3 * kSecond), 333).empty());
}

TEST(PieceFinder, KeepsTheSoundBeforeAWord) {
  const auto found = cuts(sound_of({0, 2, 1.5}), 100 * kSecond);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].begin, 1.9, 0.05);
  EXPECT_NEAR(found[0].end, 3.5, 0.01);
}

}  // namespace
}  // namespace tokamak
