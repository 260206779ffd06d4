#include "audio/log_mel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tokamak {
namespace {

TEST(LogMel, FindsAToneInTheBandOfItsPitch) {
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

/// The transform as it is defined, of an odd number of frames.
TEST(LogMel, HasTheEnergiesOfTheDefinition) {
  const LogMel mel(40);
  constexpr size_t kFrames = 7;
  Samples noise;
  uint32_t random = 1;
  for (size_t i = 0; i < kFrames * LogMel::kHop; ++i) {
    random = random * 1664525 + 1013904223;
    noise.push_back(float(random >> 8) / (1 << 23) - 1);
  }
  const std::vector<float> features = mel.of(noise);
  ASSERT_EQ(features.size(), kFrames * 40);
  for (size_t t = 0; t < kFrames; ++t) {
    std::vector<double> energies(40);
    for (uint32_t k = 0; k < LogMel::kFrequencies; ++k) {
      double real = 0, imaginary = 0;
      for (size_t i = 0; i < LogMel::kWindow; ++i) {
        auto at = ptrdiff_t(t * LogMel::kHop + i) - ptrdiff_t{LogMel::kWindow / 2};
        const auto end = ptrdiff_t(noise.size()) - 1;
        at = std::abs(at) > end ? 2 * end - at : std::abs(at);
        const double turn = 2 * std::numbers::pi * double(i) / LogMel::kWindow;
        const double sample = noise[size_t(at)] * (0.5 - 0.5 * std::cos(turn));
        real += sample * std::cos(turn * k);
        imaginary += sample * std::sin(turn * k);
      }
      for (uint32_t bin = 0; bin < 40; ++bin) {
        energies[bin] += mel.weight(k, bin) * (real * real + imaginary * imaginary);
      }
    }
    for (uint32_t bin = 0; bin < 40; ++bin) {
      EXPECT_NEAR(features[t * 40 + bin], (std::log10(energies[bin]) + 4) / 4, 1e-6)
          << t << " " << bin;
    }
  }
}

TEST(LogMel, RaisesSilenceToALeastValue) {
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
