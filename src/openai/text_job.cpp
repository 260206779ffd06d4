#include "openai/text_job.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/text_request.h"
#include "openai/messages.h"

namespace tokamak::openai {
namespace {

constexpr size_t kMaxPrompts = 128, kMaxStops = 16, kMaxStopBytes = 256;
constexpr uint32_t kCompletionTokens = 16;
constexpr size_t kMaxBiases = 1024;
constexpr double kMaxBias = 100;

/// An object in JSON, as docs/grammars.md says grammars; white space has an end, models may not.
constexpr std::string_view kJsonObject = R"(
root   ::= object
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (member ("," ws member)*)? "}"
member ::= string ":" ws value ws
array  ::= "[" ws (value ws ("," ws value ws)*)? "]"
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?
ws     ::= (" " | "\n" " "{0,16})?
)";

Answer<std::vector<std::string>> stops_of(const Json& stop) {
  if (stop.is_null()) return {};
  if (stop.is_string() && stop.as_string().empty()) return {};
  std::vector<std::string> out;
  const Json::Array list = stop.is_array() ? stop.as_array() : Json::Array{stop};
  if (list.size() > kMaxStops) {
    return wrong("stop", "stop has {} texts, expected at most {}.", list.size(), kMaxStops);
  }
  for (const Json& text : list) {
    if (!text.is_string() || text.as_string().size() > kMaxStopBytes) {
      return wrong("stop", "stop has {}, expected texts of at most {} bytes.", quoted(text),
                   kMaxStopBytes);
    }
    if (!text.as_string().empty()) out.push_back(text.as_string());
  }
  return out;
}

/// The GBNF that the answer is held to, and the field that says so.
Answer<std::pair<std::string, std::string_view>> grammar_of(const Fields& fields) {
  std::pair<std::string, std::string_view> out = {fields.grammar.value_or(""), "grammar"};
  if (fields.response_format.is_null()) return out;
  const Json* type = fields.response_format.find("type");
  const std::string word = type != nullptr && type->is_string() ? type->as_string() : "";
  if (word == "text") return out;
  if (word == "json_schema" || fields.response_format.find("schema") != nullptr) {
    return wrong("response_format",
                 "response_format has a JSON Schema, which this server does not support yet: use "
                 "\"json_object\" or grammar.");
  }
  if (word != "json_object") {
    return wrong("response_format", "response_format is {}, expected the type \"text\" or {}.",
                 quoted(fields.response_format), "\"json_object\"");
  }
  if (!out.first.empty()) {
    return wrong("grammar", "grammar and response_format hold the answer to two forms: leave one.");
  }
  return std::pair(std::string(kJsonObject), std::string_view("response_format"));
}

Answer<bool> counts_usage(const Fields& fields) {
  const Json& options = fields.stream_options;
  if (options.is_null()) return false;
  if (!fields.stream.value_or(false)) {
    return wrong("stream_options", "stream_options needs stream to be true.");
  }
  const Json* include = options.find("include_usage");
  if (include == nullptr || include->is_null()) return false;
  if (!include->is_bool()) {
    return wrong("stream_options", "stream_options.include_usage is {}, expected true or false.",
                 quoted(*include));
  }
  return include->as_bool();
}

/// What a text request says apart from its prompt.
Answer<TextRequest> rules_of(const Fields& fields, Endpoint endpoint) {
  TextRequest out;
  out.temperature = fields.temperature;
  // The sampler keeps the first token in any case, but 0 is not among its numbers.
  if (fields.top_p) out.top_p = std::max(*fields.top_p, 1e-9);
  if (fields.top_k) {
    out.top_k =
        uint32_t(std::clamp<int64_t>(*fields.top_k, 0, std::numeric_limits<int32_t>::max()));
  }
  out.min_p = fields.min_p;
  out.typical_p = fields.typical_p;
  out.repetition_penalty = fields.repetition_penalty;
  TOK_TRY(out.stop, stops_of(fields.stop));
  if (fields.ignore_eos.value_or(false)) out.end_ids.emplace();
  if (endpoint == kChat) {
    out.logprobs = fields.logprobs.value_or(false);
    if (fields.top_logprobs.value_or(0) > 0 && !out.logprobs) {
      return wrong("top_logprobs", "top_logprobs needs logprobs to be true.");
    }
    out.top_logprobs = uint32_t(fields.top_logprobs.value_or(0));
  } else {
    out.logprobs = fields.logprobs_count.has_value();
    out.top_logprobs = uint32_t(fields.logprobs_count.value_or(0));
  }
  return out;
}

Answer<std::vector<std::pair<uint32_t, float>>> biases_of(const Json& bias, uint32_t vocab) {
  std::vector<std::pair<uint32_t, float>> out;
  if (bias.is_null()) return out;
  if (bias.as_object().size() > kMaxBiases) {
    return wrong("logit_bias", "logit_bias has {} entries, expected at most {}.",
                 bias.as_object().size(), kMaxBiases);
  }
  for (const auto& [name, value] : bias.as_object()) {
    uint32_t id = 0;
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, id);
    if (read.ec != std::errc() || read.ptr != end || id >= vocab) {
      return wrong("logit_bias", "logit_bias has {}, expected token ids from 0 to {}.",
                   quoted(name), vocab - 1);
    }
    if (!value.is_number() || !(std::abs(value.as_number()) <= kMaxBias)) {
      return wrong("logit_bias", "logit_bias has {} for token {}, expected a number from {} to {}.",
                   quoted(value), id, -kMaxBias, kMaxBias);
    }
    out.emplace_back(id, float(value.as_number()));
  }
  return out;
}

/// What the public TextRequest does not have.
Answer<void> add_rules(SamplingParams& sampling, const GenerationParams& params,
                       const Fields& fields, uint32_t vocab) {
  sampling.presence_penalty = fields.presence_penalty.value_or(0);
  sampling.frequency_penalty = fields.frequency_penalty.value_or(0);
  TOK_TRY(sampling.logit_bias, biases_of(fields.logit_bias, vocab));
  constexpr int64_t kMaxMinTokens = std::numeric_limits<int32_t>::max();
  sampling.min_tokens = uint32_t(std::min(fields.min_tokens.value_or(0), kMaxMinTokens));
  for (const uint32_t id : params.end_ids.value_or(std::vector<uint32_t>())) {
    if (id < vocab) sampling.late_ids.push_back(id);
  }
  return {};
}

/// What the fields leave of the context for the answer.
Answer<uint32_t> token_limit(const Fields& fields, Endpoint endpoint, size_t prompt,
                             uint32_t context) {
  if (prompt >= context) {
    return Refusal(ApiError{
        .message = fmt::format("The prompt has {} tokens, but the context has {}, in which the "
                               "answer must have room, too.",
                               prompt, context),
        .param = endpoint == kChat ? "messages" : "prompt",
        .code = "context_length_exceeded"});
  }
  const auto left = uint32_t(context - prompt);
  const uint32_t fallback = endpoint == kChat ? left : kCompletionTokens;
  const auto asked =
      fields.max_completion_tokens ? fields.max_completion_tokens : fields.max_tokens;
  return uint32_t(std::min<int64_t>(asked.value_or(fallback), left));
}

/// The prompts of the body; everything else of a TextRequest stays as `rules` has it.
Answer<std::vector<TextRequest>> prompts_of(const Engine& engine, const Fields& fields,
                                            Endpoint endpoint, TextRequest rules) {
  if (endpoint == kChat) {
    TOK_TRY(const Json variables, chat_variables(fields));
    rules.chat_variables = variables.dump();
    return std::vector<TextRequest>{std::move(rules)};
  }
  TOK_TRY(Texts prompts,
          texts_of(fields.prompt, "prompt", engine.compiled().facts.vocab, kMaxPrompts));
  std::vector<TextRequest> out;
  for (std::string& text : prompts.texts) out.emplace_back(rules).prompt = std::move(text);
  for (auto& ids : prompts.ids) out.emplace_back(rules).ids = std::move(ids);
  return out;
}

Answer<std::string> echo_of(const Engine& engine, const TextRequest& asked) {
  if (asked.ids.empty()) return asked.prompt;
  TOK_TRY(const Tokenizer* tokenizer, answer(engine.tokenizer()));
  return tokenizer->decode(asked.ids, true);
}

}  // namespace

Answer<TextJob> read_text_job(const Engine& engine, const Fields& fields, Endpoint endpoint) {
  TextJob job;
  job.is_chat = endpoint == kChat;
  job.choices = uint32_t(fields.n.value_or(1));
  if (fields.best_of && *fields.best_of != fields.n.value_or(1)) {
    return wrong("best_of", "best_of is {}, but this server supports only n ({}) yet.",
                 *fields.best_of, job.choices);
  }
  if (fields.seed && *fields.seed != -1) job.seed = uint64_t(*fields.seed);
  job.streams = fields.stream.value_or(false);
  TOK_TRY(job.counts_usage, counts_usage(fields));
  TOK_TRY(TextRequest rules, rules_of(fields, endpoint));
  const bool echoes = fields.echo.value_or(false);
  if (echoes && rules.logprobs) {
    return wrong("echo", "echo with logprobs is not supported yet: leave out one of them.");
  }
  TOK_TRY(const auto gbnf, grammar_of(fields));
  std::shared_ptr<const Grammar> grammar;
  if (!gbnf.first.empty()) {
    TOK_TRY(Grammar parsed, answer(Grammar::parse(gbnf.first), gbnf.second));
    grammar = std::make_shared<const Grammar>(std::move(parsed));
  }
  TOK_TRY(const auto prompts, prompts_of(engine, fields, endpoint, std::move(rules)));
  const std::string_view where = job.is_chat ? "messages" : "prompt";
  for (const TextRequest& asked : prompts) {
    TOK_TRY(Request request, answer(scheduler_request(engine, asked), where));
    TOK_TRY(request.params.max_tokens,
            token_limit(fields, endpoint, request.prompt.size(), engine.compiled().context));
    TOK_TRY(
        add_rules(request.params.sampling, request.params, fields, engine.compiled().facts.vocab));
    request.params.grammar = grammar;
    job.prompts.push_back(std::move(request));
    TOK_TRY(std::string echo, echoes ? echo_of(engine, asked) : Answer<std::string>(""));
    job.echoes.push_back(std::move(echo));
  }
  job.has_tools = job.is_chat && fields.tools.is_array() && !fields.tools.as_array().empty() &&
                  fields.tool_choice != Json("none");
  job.one_call_only = !fields.parallel_tool_calls.value_or(true);
  return job;
}

}  // namespace tokamak::openai
