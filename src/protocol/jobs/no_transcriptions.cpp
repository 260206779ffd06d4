// In a page there are no recordings.
#include "protocol/jobs/transcriptions.h"

namespace tokamak::protocol {

Answer<std::unique_ptr<Job>> make_transcription_job(
    Engine&, ByteBudget&, const HttpRequest&, bool,
    const std::function<Answer<void>(std::string_view)>&) {
  return Refusal(ApiError{.status = 501, .message = "Recordings are not heard in a browser."});
}

}  // namespace tokamak::protocol
