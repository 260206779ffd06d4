// Which paths there are, and what each of them is for.
#pragma once
#include "protocol/requests/fields.h"
#include "protocol/requests/sink.h"

namespace tokamak::protocol {

enum class Action : uint8_t {
  kText,  // of the route's endpoint
  kCountTokens,
  kEmbeddings,
  kEmbedSparse,
  kRerank,
  kSpeak,
  kTranscribe,
  kTranslate,
  kVoices,
  kTokenize,
  kDetokenize,
  kApplyTemplate,
  kModels,
  kModel,
  kHealth,
  kProps,
  kOllamaTags,
  kOllamaPs,
  kOllamaShow,
  kOllamaVersion,
};

struct Route {
  std::string_view path, method;
  Action action = Action::kText;
  Endpoint endpoint = kNoFields;
  Dialect dialect = Dialect::kOpenAi;
};

/// The request's path without what follows '?' and without /v1 in front.
std::string_view plain_path(std::string_view path);

/// Errors: 404, 405.
Answer<const Route*> find_route(const HttpRequest& request);

/// The part of the path that names its route, "/v1/models/" of all models; "" where there is no
/// route. `path` has nothing that follows '?'.
std::string_view route_label(std::string_view path);

/// Whose errors a path gets, even where there is nothing at it.
Dialect dialect_of(std::string_view path);

/// The model that /v1/models/ID asks for.
std::string asked_model(std::string_view path);

}  // namespace tokamak::protocol
