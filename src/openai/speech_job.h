// Requests for speech, and their answers while the sound is made.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "openai/fields.h"
#include "openai/sink.h"

namespace tokamak::openai {

/// What the models of a service speak with.
struct SpeechOptions {
  std::string codec;  // "": the one in the model's folder or beside it
  /// Speakers by the names that requests give. None: any name is the model's own voice.
  std::map<std::string, std::vector<float>> voices;
};

/// Opens the codec, so that what is wrong with it or with a voice shows before somebody asks. Does
/// nothing for a model that does not speak.
Result<void> open_speech(Engine& engine, const SpeechOptions& options);

/// `{"voices": [...]}`: the names that requests may give, the model's own voice first.
Json voices_json(const SpeechOptions& options);

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
Answer<std::unique_ptr<SpeechJob>> make_speech_job(Engine& engine, const SpeechOptions& options,
                                                   const Fields& fields, uint64_t seed, Sink sink);

}  // namespace tokamak::openai
