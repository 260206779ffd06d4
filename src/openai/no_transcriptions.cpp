// In a page there are no recordings.
#include "openai/transcriptions.h"

namespace tokamak::openai {

Answer<std::unique_ptr<Job>> make_transcription_job(
    Engine&, ByteBudget&, const HttpRequest&, bool,
    const std::function<Answer<void>(std::string_view)>&) {
  return Refusal(ApiError{.status = 501, .message = "Recordings are not heard in a browser."});
}

}  // namespace tokamak::openai
