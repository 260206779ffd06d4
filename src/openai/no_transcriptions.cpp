// In a page there are no recordings.
#include "openai/transcriptions.h"

namespace tokamak::openai {

Answer<TypedText> transcribe(Engine&, const HttpRequest&, bool,
                             const std::function<Answer<void>(std::string_view)>&) {
  return Refusal(ApiError{.status = 501, .message = "Recordings are not heard in a browser."});
}

}  // namespace tokamak::openai
