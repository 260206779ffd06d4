#include "audio/resample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tokamak {
namespace {

float tone(double seconds) {
  return float(std::sin(2 * std::numbers::pi * 440 * seconds));
}

std::vector<float> tone_at(uint32_t rate, size_t count) {
  std::vector<float> out;
  for (size_t i = 0; i < count; ++i) out.push_back(tone(double(i) / rate));
  return out;
}

TEST(Resampler, LeavesSoundAt16KilohertzAsItIs) {
  auto resampler = Resampler::open({});
  ASSERT_TRUE(resampler);
  const std::vector<float> sound = tone_at(kSampleRate, 1000);
  Samples out;
  ASSERT_TRUE(resampler->add(sound, out));
  ASSERT_TRUE(resampler->finish(out));
  EXPECT_EQ(out, sound);
}

TEST(Resampler, KeepsATone) {
  for (const uint32_t rate : {8000u, 11025u, 44100u, 48000u, 96000u}) {
    auto resampler = Resampler::open({.rate = rate});
    ASSERT_TRUE(resampler);
    Samples out;
    ASSERT_TRUE(resampler->add(tone_at(rate, rate / 2), out));
    ASSERT_TRUE(resampler->finish(out));
    EXPECT_NEAR(double(out.size()), kSampleRate / 2.0, 1) << rate;
    const size_t ends = kSampleRate / 50;
    for (size_t i = ends; i + ends < out.size(); ++i) {
      ASSERT_NEAR(out[i], tone(seconds_of(i)), 1e-4) << rate << " at " << i;
    }
  }
}

TEST(Resampler, GivesTheSameWhateverThePieces) {
  const std::vector<float> sound = tone_at(44100, 20000);
  Samples whole, pieces;
  auto one = Resampler::open({.rate = 44100});
  ASSERT_TRUE(one && one->add(sound, whole) && one->finish(whole));
  auto many = Resampler::open({.rate = 44100});
  ASSERT_TRUE(many);
  for (size_t at = 0; at < sound.size(); at += 777) {
    ASSERT_TRUE(
        many->add(std::span(sound).subspan(at, std::min<size_t>(777, sound.size() - at)), pieces));
  }
  ASSERT_TRUE(many->finish(pieces));
  EXPECT_EQ(pieces, whole);
}

TEST(Resampler, CountsSamplesOfAllPiecesInItsErrors) {
  auto resampler = Resampler::open({.channels = 2});
  ASSERT_TRUE(resampler);
  Samples out;
  ASSERT_TRUE(resampler->add(std::vector<float>(6), out));
  const auto status = resampler->add(std::vector<float>{0, NAN}, out);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "Sample 7 of the sound is nan, expected a number from -1 to 1.");
}

}  // namespace
}  // namespace tokamak
