// What a request for text asks of the engine: one job for each prompt, and how to answer.
#pragma once
#include "engine/engine.h"
#include "openai/fields.h"

namespace tokamak::openai {

struct TextJob {
  bool is_chat = false;
  std::vector<Request> prompts;     // without callbacks and seeds; max_tokens fit the context
  std::vector<std::string> echoes;  // for each prompt, what stands in front of its answers
  uint32_t choices = 1;             // answers to each prompt
  std::optional<uint64_t> seed;     // of the first choice; unset: a random one
  bool streams = false, counts_usage = false;
  bool has_tools = false;  // shown to the model
  bool one_call_only = false;
};

/// Errors name the field. `endpoint`: kChat or kCompletions.
Answer<TextJob> read_text_job(const Engine& engine, const Fields& fields, Endpoint endpoint);

/// A list of token ids, each of them of the model's vocabulary.
Answer<std::vector<uint32_t>> token_ids(const Json& list, std::string_view field, uint32_t vocab);

/// The forms that `prompt` and `input` have.
struct Texts {
  std::vector<std::string> texts;
  std::vector<std::vector<uint32_t>> ids;  // in place of texts
};
Answer<Texts> texts_of(const Json& value, std::string_view field, uint32_t vocab, size_t most);

}  // namespace tokamak::openai
