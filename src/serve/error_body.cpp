#include "serve/error_body.h"

#include "base/json.h"
#include "openai/api_error.h"

namespace tokamak::serve {
namespace {

constexpr std::pair<int, std::string_view> kAnthropicTypes[] = {
    {401, "authentication_error"}, {403, "permission_error"}, {404, "not_found_error"},
    {413, "request_too_large"},    {429, "rate_limit_error"}, {503, "overloaded_error"},
};

std::string_view anthropic_type(int status) {
  for (const auto& [known, type] : kAnthropicTypes) {
    if (known == status) return type;
  }
  return status >= 500 ? "api_error" : "invalid_request_error";
}

}  // namespace

Reply error_reply(std::string_view path, int status, std::string_view message,
                  std::string_view code) {
  if (path.starts_with("/api/")) {  // Ollama
    return {.status = status, .body = Json(Json::Object{{"error", message}}).dump()};
  }
  if (path.starts_with("/v1/messages")) {  // Anthropic
    Json error(Json::Object{{"type", anthropic_type(status)}, {"message", message}});
    return {.status = status,
            .body = Json(Json::Object{{"type", "error"}, {"error", std::move(error)}}).dump()};
  }
  const openai::ApiError error = {
      .status = status, .message = std::string(message), .code = std::string(code)};
  return {.status = status, .body = error.body().dump()};
}

}  // namespace tokamak::serve
