// The fields of requests: one table drives what is read and refused, and docs/tables/fields.md.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "protocol/requests/api_error.h"

namespace tokamak::protocol {

/// The endpoint of a body; a set of them has those where a field counts.
enum Endpoint : uint32_t {
  kNoFields = 0,  // without a body
  kChat = 1 << 0,
  kCompletions = 1 << 1,
  kEmbeddings = 1 << 2,
  kTokenize = 1 << 3,
  kDetokenize = 1 << 4,
  kApplyTemplate = 1 << 5,
  kResponses = 1 << 6,
  kMessages = 1 << 7,  // Anthropic's
  kCountTokens = 1 << 8,
  kOllamaChat = 1 << 9,
  kOllamaGenerate = 1 << 10,
  kOllamaOptions = 1 << 11,  // the member `options` of those two
  kOllamaEmbed = 1 << 12,
  kOllamaShow = 1 << 13,
  kRerank = 1 << 14,
  kSpeech = 1 << 15,
  kOllamaEmbeddings = 1 << 16,  // as its embed was before
  kEmbedSparse = 1 << 17,       // of text-embeddings-inference
};

/// The value of max_tokens with which the context is the limit.
inline constexpr int64_t kUnlimited = int64_t{1} << 53;

/// Values as a body gives them, within the table's ranges. A field that is absent or null is unset,
/// or null JSON; what stands in JSON has the right kind and is looked into by those who use it.
struct Fields {
  std::optional<std::string> model, cache_salt, grammar, regex, encoding_format, content, suffix;
  std::optional<std::string> instructions, previous_response_id, reasoning_format;
  std::optional<std::string> query, instruction, stream_format, language;
  std::optional<std::string> reasoning_effort, unsupported_text;
  std::optional<double> temperature, top_p, min_p, typical_p, repetition_penalty;
  std::optional<double> presence_penalty, frequency_penalty, speed, unsupported_number;
  std::optional<int64_t> max_tokens, max_completion_tokens, top_k, seed, n, best_of;
  std::optional<int64_t> top_logprobs, logprobs_count, min_tokens, dimensions, num_predict, top_n;
  std::optional<bool> stream, logprobs, echo, ignore_eos, parallel_tool_calls, store;
  std::optional<bool> add_special, parse_special, with_pieces, raw, return_documents, truncation;
  std::optional<bool> enable_thinking, add_generation_prompt, continue_final_message;
  std::optional<bool> unsupported_flag;  // of any field that has none of its own
  Json messages, prompt, stop, stream_options, logit_bias, response_format, tools, tool_choice;
  Json chat_template_kwargs, input, tokens, json_schema, functions, function_call;
  Json system, text, format, options, think, images, documents, keep_alive, voice, truncate;
  Json reasoning, thinking, output_config, output_format, choices, structured_outputs, modalities;
  Json include;
  Json unsupported;
  /// No field: of functions that the client calls otherwise than as functions, how, by the name
  /// that the model sees: {"type": "custom"}, {"namespace", "name"} or both.
  Json call_shapes;
};

using Member = std::variant<std::optional<bool> Fields::*, std::optional<int64_t> Fields::*,
                            std::optional<double> Fields::*, std::optional<std::string> Fields::*,
                            Json Fields::*>;

/// A row of the table.
struct Field {
  std::string_view name;
  uint32_t endpoints = 0;
  Member member;
  /// Least and most: of a number, or of the bytes of a text.
  double min = 0, max = 0;
  /// The JSON that is expected, in words, and its kinds, a bit each.
  std::string_view expected = {};
  uint8_t kinds = 0;
  std::string_view fallback = {};  // what counts where it is absent
  std::string_view meaning = {};
  /// Known, but nothing does it yet: only a value that changes nothing is taken.
  bool is_unsupported = false;
};

std::span<const Field> fields();

/// "a number from 0 to 2", for messages and documents.
std::string expected_of(const Field& field);

/// Reads the members of an object into `out`. Errors: the first field whose value is wrong.
Answer<void> read_members(const Json& object, Endpoint endpoint, Fields& out);

/// Reads the body of a request. Errors: what is no JSON object in UTF-8, and the first field whose
/// value is wrong. Fields that the table does not have are ignored.
Answer<Fields> read_fields(std::string_view body, Endpoint endpoint);

}  // namespace tokamak::protocol
