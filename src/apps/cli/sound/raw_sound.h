// Samples without a header on standard input, such as a microphone's through a pipe.
#pragma once
#include <optional>

#include "apps/cli/line/options.h"
#include "audio/pcm.h"
#include "audio/resample.h"

namespace tokamak::cli {

struct RawSoundFlags {
  std::string format;  // "": the input is no such sound
  uint32_t rate = kSampleRate, channels = 1;
};
/// --input-format, --rate and --channels; `group` as Option has it.
void add_raw_sound_options(App& command, RawSoundFlags& flags, const std::string& group);

class RawSound {
 public:
  /// Errors: a terminal as standard input. REQUIRES: a format.
  static Result<RawSound> open(const RawSoundFlags& flags);

  /// Returns the samples since the last call, at 16 kHz. `waits`: until there are some, or a
  /// Ctrl-C; otherwise there may be none. Errors: no samples, as check_samples() has them; an end
  /// in the middle of one.
  Result<Samples> read(bool waits);
  /// Whether nothing more will come.
  bool has_ended() const { return has_ended_; }

 private:
  RawSound(PcmReader reader, Resampler resampler, size_t most)
      : reader_(std::move(reader)), resampler_(std::move(resampler)), most_(most) {}

  PcmReader reader_;
  Resampler resampler_;
  size_t most_;  // bytes to read at once
  bool has_ended_ = false;
};

}  // namespace tokamak::cli
