// VoiceDetector: whether somebody speaks, by how loud a frame is against the quietest of the last
// seconds. It begins at a higher level than it ends at, so that a voice that falls and rises does
// not flicker.
#pragma once
#include <deque>
#include <span>

#include "audio/sound.h"

namespace tokamak {

class VoiceDetector {
 public:
  static constexpr size_t kFrame = kSampleRate / 50;  // 20 ms

  /// Whether there is a voice in the next frame. REQUIRES: kFrame samples.
  bool add(std::span<const float> frame);

 private:
  /// The level of quiet, in dB of full scale: the minimum of the last three seconds, for in three
  /// seconds everybody draws breath.
  double floor() const;

  std::deque<double> minima_;  // of spans of frames; the last one is not whole
  size_t frames_ = 0;          // of the last span
  bool is_voice_ = false;
};

}  // namespace tokamak
