#include "openai/fields.h"

namespace tokamak::openai {
namespace {

constexpr double kAny = 9007199254740992;  // 2^53: what a number of JavaScript holds
constexpr uint8_t kText = kChat | kCompletions;
constexpr uint8_t kTemplate = kChat | kApplyTemplate;

constexpr uint8_t bit(Json::Kind kind) {
  return uint8_t(1u << uint8_t(kind));
}
constexpr uint8_t kString = bit(Json::Kind::kString);
constexpr uint8_t kList = bit(Json::Kind::kArray);
constexpr uint8_t kObject = bit(Json::Kind::kObject);

// clang-format off
constexpr Field kFields[] = {
  {"model", kText | kEmbeddings, &Fields::model, 0, kAny, {}, 0, "the one there is",
   "the model's id, as `/v1/models` lists it"},
  {"messages", kTemplate, &Fields::messages, 0, 0, "a list of messages", kList, "required",
   "the conversation; content is a text or a list of text parts"},
  {"prompt", kCompletions, &Fields::prompt, 0, 0,
   "a text, a list of texts, a list of token ids or a list of those", kString | kList, "required",
   "what to continue; at most 128 of them"},
  {"input", kEmbeddings, &Fields::input, 0, 0,
   "a text, a list of texts, a list of token ids or a list of those", kString | kList, "required",
   "what to embed; at most 2048 of them"},
  {"max_completion_tokens", kChat, &Fields::max_completion_tokens, 1, kAny, {}, 0,
   "what the context leaves", "most tokens of an answer; less where the context ends before"},
  {"max_tokens", kChat, &Fields::max_tokens, 1, kAny, {}, 0, "what the context leaves",
   "the same; `max_completion_tokens` counts where both are there"},
  {"max_tokens", kCompletions, &Fields::max_tokens, 1, kAny, {}, 0, "16",
   "most tokens of an answer; less where the context ends before"},
  {"temperature", kText, &Fields::temperature, 0, 2, {}, 0, "the model's",
   "0: always the most probable token"},
  {"top_p", kText, &Fields::top_p, 0, 1, {}, 0, "the model's",
   "only the most probable tokens that have this probability together; 0: only the first"},
  {"top_k", kText, &Fields::top_k, -1, kAny, {}, 0, "the model's",
   "only that many of the most probable tokens; 0 and -1: all"},
  {"min_p", kText, &Fields::min_p, 0, 1, {}, 0, "the model's",
   "only tokens with this share of the best one's probability"},
  {"typical_p", kText, &Fields::typical_p, 0.001, 1, {}, 0, "the model's",
   "only the most typical tokens that have this probability together"},
  {"repetition_penalty", kText, &Fields::repetition_penalty, 0.01, 100, {}, 0, "the model's",
   "above 1: tokens that were there before become less probable"},
  {"presence_penalty", kText, &Fields::presence_penalty, -2, 2, {}, 0, "0",
   "above 0: tokens that were generated become less probable"},
  {"frequency_penalty", kText, &Fields::frequency_penalty, -2, 2, {}, 0, "0",
   "the same, once for each time that they came"},
  {"logit_bias", kText, &Fields::logit_bias, 0, 0, "an object of at most 1024 token ids", kObject,
   "{}", "numbers from -100 to 100, added to the logits of those tokens"},
  {"seed", kText, &Fields::seed, -kAny, kAny, {}, 0, "random",
   "the same seed gives the same answer; -1: random. Further choices have seeds made from it"},
  {"n", kText, &Fields::n, 1, 128, {}, 0, "1", "answers to each prompt"},
  {"best_of", kCompletions, &Fields::best_of, 1, 128, {}, 0, "n", "not yet: only n is taken"},
  {"stop", kText, &Fields::stop, 0, 0, "a text or a list of at most 16 texts", kString | kList,
   "none", "texts that end the answer and are no part of it, each of at most 256 bytes"},
  {"stream", kText, &Fields::stream, 0, 0, {}, 0, "false", "the answer in events, as it comes"},
  {"stream_options", kText, &Fields::stream_options, 0, 0, "an object, with stream only", kObject,
   "{}", "`include_usage`: a last event says how many tokens it took"},
  {"logprobs", kChat, &Fields::logprobs, 0, 0, {}, 0, "false",
   "the logarithm of every token's probability, by the model alone"},
  {"top_logprobs", kChat, &Fields::top_logprobs, 0, 20, {}, 0, "0",
   "also of that many of the most probable tokens; needs `logprobs`"},
  {"logprobs", kCompletions, &Fields::logprobs_count, 0, 20, {}, 0, "none",
   "the logarithm of every token's probability, and of that many of the most probable ones"},
  {"response_format", kChat, &Fields::response_format, 0, 0, "an object with a type", kObject,
   "text", "`text` or `json_object`; `json_schema` not yet"},
  {"grammar", kText, &Fields::grammar, 0, kAny, {}, 0, "none",
   "GBNF (docs/grammars.md): only texts of it are generated"},
  {"json_schema", kText, &Fields::json_schema, 0, 0, "an object", kObject, "none", "not yet", true},
  {"regex", kText, &Fields::regex, 0, 0, "a text", kString, "none", "not yet", true},
  {"tools", kTemplate, &Fields::tools, 0, 0, "a list of at most 128 tools", kList, "none",
   "functions that the model may call; the chat template shows them to it"},
  {"tool_choice", kChat, &Fields::tool_choice, 0, 0, "auto, none, required or a function",
   kString | kObject, "auto", "`auto` or `none`; `required` and a function not yet"},
  {"parallel_tool_calls", kChat, &Fields::parallel_tool_calls, 0, 0, {}, 0, "true",
   "false: only the first call of an answer counts"},
  {"functions", kChat, &Fields::functions, 0, 0, "a list", kList, "none",
   "no more: `tools` took its place", true},
  {"function_call", kChat, &Fields::function_call, 0, 0, "a text or an object", kString | kObject,
   "none", "no more: `tool_choice` took its place", true},
  {"chat_template_kwargs", kTemplate, &Fields::chat_template_kwargs, 0, 0, "an object", kObject,
   "{}", "more that the chat template reads, such as `enable_thinking`"},
  {"cache_salt", kText, &Fields::cache_salt, 1, 256, {}, 0, "none",
   "the cache of prompts is shared only among requests of the same salt"},
  {"ignore_eos", kText, &Fields::ignore_eos, 0, 0, {}, 0, "false",
   "the model's end token does not end the answer"},
  {"min_tokens", kText, &Fields::min_tokens, 0, kAny, {}, 0, "0",
   "until that many are generated, no end token and no stop text ends the answer"},
  {"echo", kCompletions, &Fields::echo, 0, 0, {}, 0, "false",
   "the prompt in front of the answer; not with `logprobs` yet"},
  {"suffix", kCompletions, &Fields::suffix, 0, kAny, {}, 0, "none", "not yet", true},
  {"encoding_format", kEmbeddings, &Fields::encoding_format, 0, kAny, "float or base64", 0, "float",
   "base64: the numbers as little-endian f32"},
  {"dimensions", kEmbeddings, &Fields::dimensions, 1, 1048576, {}, 0, "all",
   "only that many of the first numbers"},
  {"content", kTokenize, &Fields::content, 0, kAny, {}, 0, "required", "the text"},
  {"prompt", kTokenize, &Fields::content, 0, kAny, {}, 0, "required", "the same"},
  {"add_special", kTokenize, &Fields::add_special, 0, 0, {}, 0, "false",
   "with the special tokens that the tokenizer puts around a text"},
  {"add_special_tokens", kTokenize, &Fields::add_special, 0, 0, {}, 0, "false", "the same"},
  {"parse_special", kTokenize, &Fields::parse_special, 0, 0, {}, 0, "false",
   "special tokens that the text spells become tokens"},
  {"with_pieces", kTokenize, &Fields::with_pieces, 0, 0, {}, 0, "false",
   "`{id, piece}` in place of ids; a piece that is no UTF-8 is a list of bytes"},
  {"tokens", kDetokenize, &Fields::tokens, 0, 0, "a list of token ids", kList, "required",
   "ids of the model's vocabulary"},
};
// clang-format on

}  // namespace

std::span<const Field> fields() {
  return kFields;
}

}  // namespace tokamak::openai
