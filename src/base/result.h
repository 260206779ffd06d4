// How a function of ours makes and hands on the errors of tokamak/error.h.
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "tokamak/error.h"

namespace tokamak {

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
