// SoundLine: where a spoken conversation is heard and played: a microphone and a loudspeaker, or a
// file or pipe for each.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "apps/cli/sound/raw_sound.h"
#include "apps/cli/sound/sound_devices.h"
#include "audio/encode.h"
#include "audio/sound.h"

namespace tokamak::cli {

class SoundLine {
 public:
  virtual ~SoundLine() = default;
  /// Returns the sound since the last call, at 16 kHz; `waits`: until there is some, or a Ctrl-C.
  virtual Result<Samples> hear(bool waits) = 0;
  /// Whether nothing more will be heard. Then hear() gives silence, by which time goes on.
  virtual bool has_ended() const { return false; }
  /// After what waits to be played.
  virtual void play(std::span<const float> samples) = 0;
  /// Drops what waits to be played (PlayQueue::stop).
  virtual void stop() = 0;
  /// How much was heard of what came since the last stop().
  virtual uint64_t played() const = 0;
  /// Writes what is left to be written.
  virtual Result<void> finish() { return {}; }
};

/// Gives what comes next, at 16 kHz, and whether that was the end.
struct SoundSource {
  std::function<Result<Samples>(bool waits)> read;
  std::function<bool()> has_ended;
};
/// A recording, 20 ms each time.
SoundSource source_of(Samples recording);
SoundSource source_of(RawSound sound);
/// Ends with a Ctrl-C.
SoundSource source_of(std::unique_ptr<Microphone> microphone);

/// For each moment that is heard one is played, silence where nothing is said: what comes out is as
/// long as what goes in, and as much longer as the last answer takes. `output`: a file, or "-".
Result<std::unique_ptr<SoundLine>> make_stream_line(SoundSource source, const std::string& output,
                                                    SoundFileFormat format, uint32_t rate);

/// The system's microphone and loudspeaker, at that rate. Errors: there is none, or the program was
/// built without a library for them.
Result<std::unique_ptr<SoundLine>> open_device_line(uint32_t rate);

}  // namespace tokamak::cli
