// Result<T>: how every function that reads input, files or devices reports failure.
//
// An Error is one sentence for a person plus a code for a program; the code decides the exit status
// of the command line. Functions add context on the way up ("while reading ..."). Nothing throws.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace tokamak {

enum class ErrorCode : uint8_t {
  kUsage,         // a flag or an argument is wrong
  kInvalidInput,  // a file, a prompt or a message is wrong
  kUnsupported,   // well-formed, but not something this engine runs
  kDevice,        // no device, a refused driver
  kDeviceLost,    // a device that worked is gone, with what was on it
  kOutOfMemory,   // host or device memory
  kCancelled,     // the caller asked to stop
};

struct Error {
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;  // full sentences, present tense, naming the object and both values

  /// The same error with `context` in front: "context: message".
  Error within(std::string_view context) const {
    return {code, fmt::format("{}: {}", context, message)};
  }
};

template <typename T>
using Result = std::expected<T, Error>;

using Failure = std::unexpected<Error>;

/// `return fail(ErrorCode::kUnsupported, "Tensor \"{}\" has type {}.", name, type);`
template <typename... Args>
Failure fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Failure(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

/// The commonest failure: something that came from outside is wrong.
template <typename... Args>
Failure invalid_input(fmt::format_string<Args...> format, Args&&... args) {
  return Failure(Error{ErrorCode::kInvalidInput, fmt::format(format, std::forward<Args>(args)...)});
}

template <typename... Args>
Failure unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return Failure(Error{ErrorCode::kUnsupported, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace tokamak

#define TOK_DETAIL_CONCAT2(a, b) a##b
#define TOK_DETAIL_CONCAT(a, b) TOK_DETAIL_CONCAT2(a, b)
#define TOK_DETAIL_BIND(result, declaration, ...)                 \
  auto result = (__VA_ARGS__);                                    \
  if (!result) return std::unexpected(std::move(result).error()); \
  declaration = *std::move(result)
#define TOK_DETAIL_TRY_BIND(declaration, ...) \
  TOK_DETAIL_BIND(TOK_DETAIL_CONCAT(tok_result_, __LINE__), declaration, __VA_ARGS__)
#define TOK_DETAIL_TRY(expression)                                          \
  do {                                                                      \
    auto tok_result = (expression);                                         \
    if (!tok_result) return std::unexpected(std::move(tok_result).error()); \
  } while (false)

/// TOK_TRY(auto x, f());   binds the value of f(), or returns its error to the caller.
/// TOK_TRY(g());           for Result<void>.
#define TOK_TRY(first, ...) TOK_DETAIL_TRY##__VA_OPT__(_BIND)(first __VA_OPT__(, ) __VA_ARGS__)
