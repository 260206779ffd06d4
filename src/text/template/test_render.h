// For the tests of the interpreter: a template rendered with the variables of a small chat.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "text/template/chat_template.h"

namespace tokamak::jinja {

inline constexpr std::string_view kTestVariables = R"({
  "n": 7, "f": 2.5, "s": "hello world", "e": "", "l": [3, 1, 2], "u": "Grüße 😀",
  "d": {"b": 1, "a": "x", "items": [1]},
  "people": [{"name": "bob", "age": 3}, {"name": "Al", "age": 3}, {"name": "cy", "age": 1}],
  "messages": [{"role": "system", "content": "Be nice"}, {"role": "user", "content": " Hi "}]})";

/// The text, or "error: " and the message without "chat_template: ".
inline std::string rendered(std::string_view source, const RenderOptions& options = {}) {
  const auto variables = Json::parse(kTestVariables);
  const auto parsed = ChatTemplate::parse(source);
  const auto text = parsed ? parsed->render(*variables, options) : std::unexpected(parsed.error());
  if (text) return *text;
  const std::string_view prefix = "chat_template: ";
  std::string message = text.error().message;
  EXPECT_TRUE(message.starts_with(prefix)) << message;
  return "error: " + message.substr(prefix.size());
}

/// The printed value of an expression.
inline std::string value_of(std::string_view expression) {
  return rendered("{{ " + std::string(expression) + " }}");
}

}  // namespace tokamak::jinja
