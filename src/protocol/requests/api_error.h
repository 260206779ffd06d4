// The error for a client whose request cannot be answered.
#pragma once
#include <expected>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/result.h"

namespace tokamak::protocol {

/// Whose protocol a path belongs to: errors look differently in each.
enum class Dialect : uint8_t { kOpenAi, kAnthropic, kOllama };

/// An error of a request and its HTTP status. `param` is the field that is wrong, `code` a word for
/// programs; OpenAI's errors have both, null where they are empty.
struct ApiError {
  int status = 400;
  std::string message;
  std::string param;
  std::string code;
  std::string allow = {};      // of 405: the methods that there are
  uint32_t retry_seconds = 0;  // until it may be sent again; 0: not known, or never

  /// OpenAI: {"error": {"message", "type", "param", "code"}}; Anthropic: {"type": "error", "error":
  /// {"type", "message"}}; Ollama: {"error": message}
  Json body(Dialect dialect) const;
};

/// The code of a prompt that the context has no room for. In Anthropic's protocol it is a phrase in
/// the message: clients look for it before they make a conversation shorter.
inline constexpr const char* kContextLength = "context_length_exceeded";

template <typename T>
using Answer = std::expected<T, ApiError>;

using Refusal = std::unexpected<ApiError>;

/// 400: a field is wrong. `return wrong("stop", "stop is {}, expected ...", shown(value));`
template <typename... Args>
Refusal wrong(std::string_view param, fmt::format_string<Args...> format, Args&&... args) {
  return Refusal(ApiError{.message = fmt::format(format, std::forward<Args>(args)...),
                          .param = std::string(param)});
}

/// The engine's error: what is wrong with the request is 400, what the device did is 500.
ApiError api_error(const Error& error, std::string_view param = {});

/// The value of an expression of Result, or the error as above.
template <typename T>
Answer<T> answer(Result<T> result, std::string_view param = {}) {
  if (!result) return Refusal(api_error(result.error(), param));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

/// `value` as JSON for a message, with its end cut off where it is long.
std::string quoted(const Json& value);

}  // namespace tokamak::protocol
