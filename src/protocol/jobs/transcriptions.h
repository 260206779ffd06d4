// Requests with a recording, and what is said in it.
#pragma once
#include "engine/engine.h"
#include "protocol/jobs/job.h"
#include "protocol/requests/decoded.h"

namespace tokamak::protocol {

/// OpenAI's /v1/audio/transcriptions, or /v1/audio/translations with `translate`: a form with a
/// file, which is decoded at once, by any thread, as far as `decoded` has room. Each step writes
/// down a window of it. `check_model` gets the model that the form names. Native builds; others
/// answer 501. `engine` outlives the job.
Answer<std::unique_ptr<Job>> make_transcription_job(
    Engine& engine, ByteBudget& decoded, const HttpRequest& request, bool translate,
    const std::function<Answer<void>(std::string_view)>& check_model);

}  // namespace tokamak::protocol
