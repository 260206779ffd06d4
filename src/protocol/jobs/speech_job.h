// Requests for speech, and their answers while the sound is made.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "protocol/jobs/job.h"
#include "protocol/requests/fields.h"

namespace tokamak::protocol {

/// The parts that the models of a service speak with.
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

/// A request of /v1/audio/speech, which writes a second or two of sound in each step. Others may
/// come in between two sentences. Native builds; others answer 501. `engine` and `options` outlive
/// the job. Errors: what is wrong with the fields, a model that does not speak.
Answer<std::unique_ptr<Job>> make_speech_job(Engine& engine, const SpeechOptions& options,
                                             const Fields& fields);

}  // namespace tokamak::protocol
