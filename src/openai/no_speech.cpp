// In a page nothing is said.
#include "openai/speech_job.h"

namespace tokamak::openai {

Answer<std::unique_ptr<SpeechJob>> make_speech_job(Engine&, const Fields&, uint64_t, Sink) {
  return Refusal(ApiError{.status = 501, .message = "Texts are not said in a browser."});
}

}  // namespace tokamak::openai
