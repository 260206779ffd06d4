#include "audio/sound.h"

#include <cmath>

namespace tokamak {

Result<void> check_format(const SoundFormat& format) {
  constexpr uint32_t kMinRate = 1000, kMaxRate = 768'000, kMaxChannels = 32;
  if (format.rate < kMinRate || format.rate > kMaxRate) {
    return invalid_input("The sound has {} samples a second, expected {} to {}.", format.rate,
                         kMinRate, kMaxRate);
  }
  if (format.channels == 0 || format.channels > kMaxChannels) {
    return invalid_input("The sound has {} channels, expected 1 to {}.", format.channels,
                         kMaxChannels);
  }
  return {};
}

Result<void> check_samples(std::span<const float> samples, uint64_t first) {
  constexpr float kMaxMagnitude =
      65536;  // floats that were whole numbers of 16 bits are still let through
  for (size_t i = 0; i < samples.size(); ++i) {
    if (std::abs(samples[i]) <= kMaxMagnitude) continue;
    return invalid_input("Sample {} of the sound is {}, expected a number from -1 to 1.", first + i,
                         samples[i]);
  }
  return {};
}

}  // namespace tokamak
