// Requests with a recording, and what is said in it.
#pragma once
#include "engine/engine.h"
#include "openai/api_error.h"
#include "openai/sink.h"

namespace tokamak::openai {

struct TypedText {
  std::string content_type, text;
};

/// OpenAI's /v1/audio/transcriptions, or /v1/audio/translations with `translate`: a form with a
/// file. `check_model` sees the model that it names. Native builds; others answer 501.
Answer<TypedText> transcribe(Engine& engine, const HttpRequest& request, bool translate,
                             const std::function<Answer<void>(std::string_view)>& check_model);

}  // namespace tokamak::openai
