// OpenAI's shapes of logprobs.
#pragma once
#include <span>

#include "base/json.h"
#include "text/tokenizer/tokenizer.h"
#include "tokamak/generation.h"

namespace tokamak::openai {

/// Tokens as their bytes; `offset` counts the characters of completions from answer to answer.
Json chat_logprobs(const Tokenizer& tokenizer, std::span<const Logprobs> tokens);
Json completion_logprobs(const Tokenizer& tokenizer, std::span<const Logprobs> tokens,
                         uint64_t& offset);

}  // namespace tokamak::openai
