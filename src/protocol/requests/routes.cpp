#include "protocol/requests/routes.h"

#include "base/percent.h"

namespace tokamak::protocol {
namespace {

// Those without /api also with /v1 in front.
constexpr Route kRoutes[] = {
    {"/chat/completions", "POST", Action::kText, kChat},
    {"/completions", "POST", Action::kText, kCompletions},
    {"/responses", "POST", Action::kText, kResponses},
    {"/embeddings", "POST", Action::kEmbeddings, kEmbeddings},
    {"/embed_sparse", "POST", Action::kEmbedSparse, kEmbedSparse},
    {"/rerank", "POST", Action::kRerank, kRerank},
    {"/audio/speech", "POST", Action::kSpeak, kSpeech},
    {"/audio/transcriptions", "POST", Action::kTranscribe},
    {"/audio/translations", "POST", Action::kTranslate},
    {"/audio/voices", "GET", Action::kVoices},
    {"/models", "GET", Action::kModels},
    {"/messages", "POST", Action::kText, kMessages, Dialect::kAnthropic},
    {"/messages/count_tokens", "POST", Action::kCountTokens, kCountTokens, Dialect::kAnthropic},
    {"/tokenize", "POST", Action::kTokenize, kTokenize},
    {"/detokenize", "POST", Action::kDetokenize, kDetokenize},
    {"/apply-template", "POST", Action::kApplyTemplate, kApplyTemplate},
    {"/health", "GET", Action::kHealth},
    {"/props", "GET", Action::kProps},
    {"/api/chat", "POST", Action::kText, kOllamaChat, Dialect::kOllama},
    {"/api/generate", "POST", Action::kText, kOllamaGenerate, Dialect::kOllama},
    {"/api/embed", "POST", Action::kEmbeddings, kOllamaEmbed, Dialect::kOllama},
    {"/api/embeddings", "POST", Action::kEmbeddings, kOllamaEmbeddings, Dialect::kOllama},
    {"/api/show", "POST", Action::kOllamaShow, kOllamaShow, Dialect::kOllama},
    {"/api/tags", "GET", Action::kOllamaTags, kNoFields, Dialect::kOllama},
    {"/api/ps", "GET", Action::kOllamaPs, kNoFields, Dialect::kOllama},
    {"/api/version", "GET", Action::kOllamaVersion, kNoFields, Dialect::kOllama},
};
constexpr std::string_view kOneModel = "/models/";
constexpr Route kOneModelRoute = {kOneModel, "GET", Action::kModel};

const Route* route_of(std::string_view path) {
  for (const Route& route : kRoutes) {
    if (route.path == path) return &route;
  }
  return path.starts_with(kOneModel) ? &kOneModelRoute : nullptr;
}

}  // namespace

std::string_view plain_path(std::string_view path) {
  path = path.substr(0, path.find('?'));
  return path.starts_with("/v1/") ? path.substr(3) : path;
}

Answer<const Route*> find_route(const HttpRequest& request) {
  const Route* route = route_of(plain_path(request.path));
  if (route == nullptr) {
    return Refusal(ApiError{
        .status = 404, .message = fmt::format("There is nothing at {}.", quoted(request.path))});
  }
  if (route->method == request.method) return route;
  return Refusal(ApiError{.status = 405,
                          .message = fmt::format("{} takes {}, not {}.", quoted(request.path),
                                                 route->method, quoted(request.method)),
                          .allow = std::string(route->method)});
}

std::string_view route_label(std::string_view path) {
  const std::string_view plain = plain_path(path);
  const Route* route = route_of(plain);
  if (route == nullptr) return {};
  return path.substr(0, path.size() - plain.size() + route->path.size());
}

Dialect dialect_of(std::string_view path) {
  path = plain_path(path);
  if (const Route* route = route_of(path)) return route->dialect;
  return path.starts_with("/api/") ? Dialect::kOllama : Dialect::kOpenAi;
}

std::string asked_model(std::string_view path) {
  // Ids of models have '/', which comes as "%2F".
  return percent_decoded(plain_path(path).substr(kOneModel.size()));
}

}  // namespace tokamak::protocol
