// In a page nothing is said.
#include "protocol/jobs/speech_job.h"

namespace tokamak::protocol {

Result<void> open_speech(Engine&, const SpeechOptions&) {
  return {};
}

Json voices_json(const SpeechOptions&) {
  return Json(Json::Object{{"voices", Json::Array()}});
}

Answer<std::unique_ptr<Job>> make_speech_job(Engine&, const SpeechOptions&, const Fields&) {
  return Refusal(ApiError{.status = 501, .message = "Texts are not said in a browser."});
}

}  // namespace tokamak::protocol
