// Log-mel features, as Whisper takes sound: how strong each of some bands of pitch is, every 10 ms.
//
// Frames of 400 samples, every 160, in a Hann window; the squares of their Fourier transform,
// added up by triangles that lie evenly on Slaney's mel scale from 0 to 8 kHz; log10, held to at
// most 8 below the largest; (x + 4) / 4. What stands before the first and after the last sample is
// their mirror image. The reference is WhisperFeatureExtractor of transformers.
#pragma once
#include <span>
#include <vector>

#include "audio/sound.h"

namespace tokamak {

class LogMel {
 public:
  static constexpr uint32_t kHop = 160, kWindow = 400;
  static constexpr uint32_t kFrequencies = kWindow / 2 + 1;

  explicit LogMel(uint32_t bins);

  /// [samples / kHop, bins]. REQUIRES: samples.size() > kWindow / 2.
  std::vector<float> of(std::span<const float> samples) const;

  uint32_t bins() const { return uint32_t(bands_.size()); }
  /// How much frequency `frequency` counts in a bin.
  float weight(uint32_t frequency, uint32_t bin) const;

 private:
  /// A triangle: weights of neighbouring frequencies.
  struct Band {
    uint32_t first = 0;
    std::vector<double> weights;
  };
  struct Complex {
    double real = 0, imaginary = 0;
  };
  static Complex product(Complex a, Complex b);
  /// The discrete Fourier transform of every `stride`-th number, by the factors from `stage` on
  /// (Cooley and Tukey 1965).
  void transform(const Complex* in, Complex* out, size_t stage, size_t stride) const;
  /// The squares of the transforms of two frames, one in the real parts, one in the others.
  void find_powers(std::span<const Complex> frames, std::span<double> first,
                   std::span<double> second) const;

  std::vector<Band> bands_;
  std::vector<double> window_;  // [kWindow]
  std::vector<Complex> turns_;  // [kWindow]: the roots of one
};

}  // namespace tokamak
