#include "audio/log_mel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tokamak {
namespace {

TEST(LogMel, HearsAToneInTheBandOfItsPitch) {
  constexpr uint32_t kHertz = 2000;
  const LogMel mel(80);
  Samples tone;
  for (uint32_t i = 0; i < kSampleRate / 10; ++i) {
    tone.push_back(float(std::sin(2 * std::numbers::pi * kHertz * i / kSampleRate)));
  }
  const std::vector<float> features = mel.of(tone);
  ASSERT_EQ(features.size(), 10u * 80);
  const auto frame = std::span(features).subspan(5 * 80, 80);
  const auto loudest = uint32_t(std::ranges::max_element(frame) - frame.begin());
  EXPECT_GT(mel.weight(kHertz * LogMel::kWindow / kSampleRate, loudest), 0);
}

TEST(LogMel, HoldsSilenceToALeastValue) {
  const std::vector<float> features = LogMel(80).of(Samples(kSampleRate));
  for (const float one : features) ASSERT_EQ(one, (-10 + 4) / 4.0f);
}

TEST(LogMel, BandsHaveTheSameAreaWhateverTheirWidth) {
  const LogMel mel(20);
  constexpr double kStep = double(kSampleRate) / LogMel::kWindow;
  for (uint32_t bin = 0; bin < mel.bins(); ++bin) {
    double area = 0;
    for (uint32_t i = 0; i < LogMel::kFrequencies; ++i) area += mel.weight(i, bin) * kStep;
    EXPECT_NEAR(area, 1, 0.1) << bin;
  }
}

}  // namespace
}  // namespace tokamak
