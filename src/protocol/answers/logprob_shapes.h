// OpenAI's shapes of logprobs.
#pragma once
#include <limits>
#include <span>
#include <vector>

#include "base/json.h"
#include "text/tokenizer/tokenizer.h"
#include "tokamak/generation.h"

namespace tokamak::protocol {

/// The log-probability of a prompt's first token; null in JSON.
inline constexpr float kUnknownLogprob = std::numeric_limits<float>::quiet_NaN();

struct CompletionToken {
  Logprobs logprobs;
  uint64_t offset = 0;  // of the character of the answer's text that it begins in
};

/// Tokens as their bytes; those that no text shows have none.
Json chat_logprobs(const Tokenizer& tokenizer, std::span<const CompletionToken> tokens);
Json completion_logprobs(const Tokenizer& tokenizer, std::span<const CompletionToken> tokens);

/// The number of characters that begin within `text`.
uint64_t count_characters(std::string_view text);
/// The offsets of a prompt's tokens in the text that shows it: with those special tokens that the
/// text spells, without those that were added to it.
std::vector<uint64_t> prompt_offsets(const Tokenizer& tokenizer, std::span<const uint32_t> ids,
                                     std::string_view text);

}  // namespace tokamak::protocol
