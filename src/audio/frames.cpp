#include "audio/frames.h"

#include <cmath>

namespace tokamak {

std::vector<float> levelled_frames(std::span<const float> samples, float gain) {
  constexpr double kEps = 1e-6;
  const size_t frames = (samples.size() + kFrameSamples - 1) / kFrameSamples;
  std::vector<float> out(frames * kFrameSamples);
  for (size_t at = 0; at + kFrameSamples <= samples.size(); at += kFrameSamples) {
    const auto frame = samples.subspan(at, kFrameSamples);
    double sum = 0, squares = 0;
    for (const float one : frame) sum += one;
    const double mean = sum / kFrameSamples;
    for (const float one : frame) squares += (one - mean) * (one - mean);
    const double scale = double(gain) / std::sqrt(squares / kFrameSamples + kEps);
    for (size_t i = 0; i < kFrameSamples; ++i) {
      out[at + i] = float(std::asinh((frame[i] - mean) * scale));
    }
  }
  return out;
}

}  // namespace tokamak
