// Endpointer: cuts what a microphone gives into utterances. One begins where somebody has spoken
// for a moment, some time before that since beginnings are soft, and ends in a pause.
#pragma once
#include <optional>

#include "talk/voice_detector.h"

namespace tokamak {

struct EndpointOptions {
  double begin_seconds = 0.1;  // of a voice, so that a click is none
  double pause_seconds = 0.7;  // that ends an utterance
  double max_seconds = 30;     // of an utterance; a longer one is cut
};

class Endpointer {
 public:
  explicit Endpointer(const EndpointOptions& options = {}) : options_(options) {}

  /// Any number of samples. Of several utterances that end within them the last one stays.
  void add(std::span<const float> sound);
  /// The utterance that has ended last, with some of the silence around it.
  std::optional<Samples> take();
  /// Whether an utterance is in flight, and how much of a voice there has been in it.
  bool is_in_utterance() const { return is_in_utterance_; }
  double voiced_seconds() const;
  /// Forgets all that was heard but how loud the room is.
  void forget();

 private:
  void add_frame(std::span<const float> frame);
  void end_utterance();

  EndpointOptions options_;
  VoiceDetector detector_;
  Samples rest_;                   // less than a frame
  Samples heard_;                  // of the utterance, or what may become its beginning
  std::optional<Samples> own_;     // that has ended
  size_t voiced_ = 0, quiet_ = 0;  // frames: with a voice; since the last one
  bool is_in_utterance_ = false;
};

}  // namespace tokamak
