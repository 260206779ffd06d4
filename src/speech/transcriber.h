// Transcriber: recordings to transcripts, whole or as they come.
#pragma once
#include <memory>
#include <span>

#include "speech/listener.h"
#include "tokamak/transcript.h"

namespace tokamak {

class Transcriber {
 public:
  static Result<std::unique_ptr<Transcriber>> make(const ListenerParts& parts);

  /// Begins a recording; one that has not ended is forgotten.
  Result<void> begin(const TranscribeOptions& options, const TranscribeCallbacks& callbacks);
  /// What comes next of it, samples at 16 kHz; writes as much as can be told by then.
  Result<void> add(std::span<const float> samples);
  /// The same without a copy of a long recording.
  Result<void> add(Samples&& samples);
  /// The rest, and all of it.
  Result<Transcript> finish();

 private:
  explicit Transcriber(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}
  Result<void> advance(bool is_end);

  std::unique_ptr<Listener> listener_;
  TranscribeCallbacks callbacks_;
  Transcript transcript_;
  Samples left_;       // not done with
  size_t passed_ = 0;  // samples before them
};

}  // namespace tokamak
