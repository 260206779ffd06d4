// Requests for speech, and their answers while the sound is made.
#pragma once
#include <memory>

#include "engine/engine.h"
#include "openai/fields.h"
#include "openai/sink.h"

namespace tokamak::openai {

/// One request of /v1/audio/speech on its way. The engine has one voice: who has several jobs runs
/// one to its end before another.
class SpeechJob {
 public:
  virtual ~SpeechJob() = default;
  /// Makes what comes next, a second or two of sound, and writes it; false: the answer has ended.
  virtual bool step() = 0;
};

/// Native builds; others answer 501. `seed` counts where the request has none. `engine` outlives
/// the job. Errors: what is wrong with the fields, a model that does not speak.
Answer<std::unique_ptr<SpeechJob>> make_speech_job(Engine& engine, const Fields& fields,
                                                   uint64_t seed, Sink sink);

}  // namespace tokamak::openai
