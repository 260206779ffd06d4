// Cuts a template into tokens, with Jinja's whitespace rules applied: trim_blocks and lstrip_blocks
// are on, one newline at the end of the source is dropped, every line end counts as "\n", and `-`
// and `+` beside the delimiters overrule that. Comments and raw blocks end here.
//
//   text {{ expression }} text {% statement %} text {# comment #} {% raw %}...{% endraw %}
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak::jinja {

struct Token {
  enum class Kind : uint8_t {
    kText,  // what stands outside of all delimiters
    kOpenOutput,
    kCloseOutput,
    kOpenBlock,
    kCloseBlock,
    kName,
    kString,  // escapes resolved
    kInteger,
    kFloat,
    kOperator,
    kEnd,
  };
  Kind kind = Kind::kEnd;
  uint32_t line = 1;
  std::string text;
};

/// The tokens, the last one of kind kEnd. On failure `line` is where the mistake is.
/// REQUIRES: valid UTF-8.
Result<std::vector<Token>> tokenize(std::string_view source, uint32_t& line);

/// How a token is named in a message.
std::string describe(const Token& token);

}  // namespace tokamak::jinja
