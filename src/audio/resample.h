// Resampler: any rate and number of channels to one channel at another rate, piece by piece, by
// soxr's high quality recipe. Channels are averaged. Native builds only.
#pragma once
#include <memory>
#include <span>

#include "audio/sound.h"

struct soxr;

namespace tokamak {

class Resampler {
 public:
  /// Errors: as check_format(), and no memory. REQUIRES: a rate of sounds, `to`.
  static Result<Resampler> open(const SoundFormat& format, uint32_t to = kSampleRate);

  /// Adds to `out` what is certain of the sound up to here. `frames`: samples of all channels
  /// beside each other, those of one moment after those of the one before.
  /// Errors: as check_samples().
  Result<void> add(std::span<const float> frames, Samples& out);
  /// Adds the rest. Nothing may be added after it.
  Result<void> finish(Samples& out);

 private:
  struct Delete {
    void operator()(soxr* own) const;
  };
  Resampler(const SoundFormat& format, std::unique_ptr<soxr, Delete> own)
      : format_(format), soxr_(std::move(own)) {}
  Result<void> process(const float* samples, size_t count, Samples& out);

  SoundFormat format_;
  std::unique_ptr<soxr, Delete> soxr_;  // null: the rate stays
  uint64_t taken_ = 0;                  // samples of all channels
  Samples mono_;
};

}  // namespace tokamak
