// SoundSink: joins what decoders give to one sound of one channel at kSampleRate. Native builds
// only.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "audio/resample.h"
#include "audio/sound.h"

namespace tokamak {

class SoundSink {
 public:
  explicit SoundSink(const SoundLimits& limits) : limits_(limits) {}

  /// Sets the format of the frames that follow; it may change within a file.
  /// Errors: a format that no sound has; too many changes.
  Result<void> begin(const SoundFormat& format);
  /// Counts a piece of the file, which takes a decoder of its own, however short it is.
  /// Errors: too many pieces.
  Result<void> begin_piece();
  /// Adds frames, the samples of all channels beside each other.
  /// Errors: a sound that is longer than allowed; as check_samples(). REQUIRES: begin().
  Result<void> add(std::span<const float> frames);
  /// Notes that sound is missing from the file. The first note counts.
  void note_missing(std::string text);

  bool is_empty() const { return frames_ == 0; }
  const std::string& missing() const { return missing_; }
  /// Returns the whole sound. Errors: there is none.
  Result<Samples> finish();

 private:
  Result<void> end_piece();

  SoundLimits limits_;
  SoundFormat format_;
  std::optional<Resampler> resampler_;
  double seconds_ = 0;         // of the pieces that have ended
  uint64_t piece_frames_ = 0;  // of the one that has not
  uint64_t frames_ = 0;
  uint32_t changes_ = 0, pieces_ = 0;
  Samples samples_;
  std::string missing_;
};

}  // namespace tokamak
