// The system's microphone and loudspeaker. Each has a thread that waits for it.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "audio/sound.h"
#include "base/result.h"

namespace tokamak::cli {

class Microphone {
 public:
  virtual ~Microphone() = default;
  /// Returns the sound since the last call, at 16 kHz; `waits`: for some, 50 ms at most.
  virtual Result<Samples> read(bool waits) = 0;
};

class Loudspeaker {
 public:
  virtual ~Loudspeaker() = default;
  /// Plays them after those that wait.
  virtual void add(std::span<const float> samples) = 0;
  /// Drops what waits (PlayQueue::stop).
  virtual void stop() = 0;
  /// Samples of those since the last stop() that were audible.
  virtual uint64_t played() const = 0;
  /// Errors: it has stopped.
  virtual Result<void> status() const = 0;
  /// Waits until at most that much sound is left to be played, or for a Ctrl-C. Errors: as
  /// status().
  virtual Result<void> wait(double seconds_left) = 0;
};

/// Errors: there is none, or the program was built without a library for them.
Result<std::unique_ptr<Microphone>> open_microphone();
/// `rate`: samples a second.
Result<std::unique_ptr<Loudspeaker>> open_loudspeaker(uint32_t rate);

}  // namespace tokamak::cli
