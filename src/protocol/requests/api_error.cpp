#include "protocol/requests/api_error.h"

#include "base/utf8.h"

namespace tokamak::protocol {
namespace {

constexpr size_t kQuotedBytes = 100;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

const char* anthropic_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
      return "overloaded_error";
    default:
      return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

/// The type and the code of a limit: clients wait by them.
constexpr const char* kRateLimit = "rate_limit_exceeded";

const char* openai_type(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return kRateLimit;
  return status >= 500 ? "server_error" : "invalid_request_error";
}

}  // namespace

Json ApiError::body(Dialect dialect) const {
  if (dialect == Dialect::kOllama) return Json(Json::Object{{"error", message}});
  Json error;
  if (dialect == Dialect::kAnthropic) {
    const bool is_too_long = code == kContextLength;
    error.set("type", anthropic_type(status));
    error.set("message", is_too_long ? fmt::format("prompt is too long: {}", message) : message);
    return Json(Json::Object{{"type", "error"}, {"error", std::move(error)}});
  }
  error.set("message", message);
  error.set("type", openai_type(status));
  error.set("param", text_or_null(param));
  error.set("code", status == 429 ? Json(kRateLimit) : text_or_null(code));
  return Json(Json::Object{{"error", std::move(error)}});
}

ApiError api_error(const Error& error, std::string_view param) {
  int status = 500;
  switch (error.code) {
    case ErrorCode::kUsage:
    case ErrorCode::kInvalidInput:
    case ErrorCode::kUnsupported:
      status = 400;
      break;
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kCancelled:
      status = 503;
      break;
    case ErrorCode::kDevice:
    case ErrorCode::kDeviceLost:
      break;
  }
  return {.status = status, .message = error.message, .param = std::string(param)};
}

std::string quoted(const Json& value) {
  return shown(value, kQuotedBytes);
}

}  // namespace tokamak::protocol
