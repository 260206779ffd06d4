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
  /// Adds the next samples, at 16 kHz; writes as much as is certain by then.
  Result<void> add(std::span<const float> samples);
  /// The same without a copy of a long recording.
  Result<void> add(Samples&& samples);
  /// The rest, and all of it.
  Result<Transcript> finish();

  // The same in steps, between which others may use the engine's program:
  //   transcriber.put(samples);
  //   for (;;) {
  //     TOK_TRY(const bool goes_on, transcriber.step());
  //     if (!goes_on) break;
  //   }
  //   TOK_TRY(const Transcript transcript, transcriber.finish());
  /// Takes what comes next without writing anything.
  void put(Samples samples);
  /// Writes one window or piece; false: there is no whole one, which is finish()'s.
  Result<bool> step() { return take_one(false); }

 private:
  explicit Transcriber(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}
  Result<bool> take_one(bool is_end);

  std::unique_ptr<Listener> listener_;
  TranscribeCallbacks callbacks_;
  Transcript transcript_;
  Samples sound_;      // the samples put last, after those left before
  size_t done_ = 0;    // samples of it that are done with
  size_t passed_ = 0;  // samples before it
};

}  // namespace tokamak
