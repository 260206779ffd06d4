#include "talk/voice_detector.h"

#include <gtest/gtest.h>

#include "talk/sounds_test.h"

namespace tokamak {
namespace {

/// In how many of the frames there is a voice.
size_t voiced(VoiceDetector& detector, const Samples& sound) {
  size_t count = 0;
  for (size_t at = 0; at + VoiceDetector::kFrame <= sound.size(); at += VoiceDetector::kFrame) {
    count += detector.add(std::span(sound).subspan(at, VoiceDetector::kFrame)) ? 1 : 0;
  }
  return count;
}

TEST(VoiceDetector, DetectsAVoiceFromTheFirstFrameOn) {
  VoiceDetector detector;
  EXPECT_EQ(voiced(detector, voice(1)), 50u);
  EXPECT_EQ(voiced(detector, silence(1)), 0u);
}

TEST(VoiceDetector, DetectsNoVoiceInSteadyNoise) {
  VoiceDetector detector;
  voiced(detector, noise(4, -40));
  EXPECT_EQ(voiced(detector, noise(4, -40)), 0u) << "it knows by now how loud the room is";
  EXPECT_EQ(voiced(detector, noise(1, -29)), 0u) << "less than 15 dB more";
  EXPECT_EQ(voiced(detector, noise(1, -20)), 50u);
}

TEST(VoiceDetector, EndsAtALowerLevelThanItBegins) {
  VoiceDetector detector;
  EXPECT_EQ(voiced(detector, noise(0.1, -48)), 0u) << "12 dB above a quiet room";
  EXPECT_EQ(voiced(detector, noise(0.1, -40)), 5u);
  EXPECT_EQ(voiced(detector, noise(0.1, -48)), 5u);
  EXPECT_EQ(voiced(detector, noise(0.1, -53)), 0u);
  EXPECT_EQ(voiced(detector, noise(0.1, -48)), 0u);
}

TEST(VoiceDetector, TakesALastingSoundForTheRoom) {
  VoiceDetector detector;
  EXPECT_EQ(voiced(detector, noise(3, -30)), 140u) << "until it has heard eight spans";
  EXPECT_EQ(voiced(detector, noise(2, -30)), 0u);
}

}  // namespace
}  // namespace tokamak
