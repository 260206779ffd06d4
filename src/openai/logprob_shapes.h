// OpenAI's shapes of logprobs.
#pragma once
#include <limits>
#include <span>

#include "base/json.h"
#include "text/tokenizer/tokenizer.h"
#include "tokamak/generation.h"

namespace tokamak::openai {

/// What the first token of a prompt has; null in JSON.
inline constexpr float kUnknownLogprob = std::numeric_limits<float>::quiet_NaN();

/// Tokens as their bytes; `offset` counts the characters of completions from answer to answer.
Json chat_logprobs(const Tokenizer& tokenizer, std::span<const Logprobs> tokens);
Json completion_logprobs(const Tokenizer& tokenizer, std::span<const Logprobs> tokens,
                         uint64_t& offset);

}  // namespace tokamak::openai
