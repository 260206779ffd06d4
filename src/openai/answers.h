// The shapes of OpenAI's answers: whole ones, and chunks of a stream.
#pragma once
#include <functional>
#include <span>

#include "base/json.h"
#include "openai/tool_calls.h"
#include "text/tokenizer/tokenizer.h"
#include "tokamak/generation.h"

namespace tokamak::openai {

/// What every answer to one request, and every chunk of it, begins with.
struct AnswerHead {
  bool is_chat = false;
  std::string id;
  int64_t created = 0;  // unix seconds
  std::string model, fingerprint;
};

struct Usage {
  uint64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
  Json json() const;
};

/// {id, object, created, model, system_fingerprint, choices}
Json answer_object(const AnswerHead& head, bool is_chunk, Json::Array choices);

/// "stop", "length".
std::string_view finish_word(FinishReason reason);

/// Tokens as their bytes; `offset` counts the characters of completions from answer to answer.
Json chat_logprobs(const Tokenizer& tokenizer, std::span<const Logprobs> tokens);
Json completion_logprobs(const Tokenizer& tokenizer, std::span<const Logprobs> tokens,
                         uint64_t& offset);

/// {id, type, function: {name, arguments}}
Json call_json(const ToolCall& call, std::string id);

/// One event of text/event-stream.
std::string event(const Json& data);

/// Ids as OpenAI's: a prefix and 24 letters and digits from `random`.
std::string random_id(std::string_view prefix, const std::function<uint64_t()>& random);

}  // namespace tokamak::openai
