// Sounds for the tests of this folder, at 16 kHz.
#pragma once
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "audio/sound.h"

namespace tokamak {

inline Samples silence(double seconds) {
  return Samples(size_t(seconds * kSampleRate));
}
/// White noise of that level in dB of full scale.
inline Samples noise(double seconds, double level) {
  Samples out = silence(seconds);
  const double amplitude = std::pow(10, level / 20) * std::sqrt(3.0);
  uint32_t state = 1;
  for (float& sample : out) {
    state = state * 1664525 + 1013904223;
    sample = float(amplitude * (double(state) / 2147483648.0 - 1));
  }
  return out;
}
/// A sound as loud as somebody who speaks.
inline Samples voice(double seconds) {
  return noise(seconds, -20);
}
inline Samples joined(std::initializer_list<Samples> parts) {
  Samples out;
  for (const Samples& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace tokamak
