#include "protocol/service/text_job.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/requests/image_files.h"
#include "engine/requests/text_request.h"
#include "protocol/chat/messages.h"
#include "protocol/jobs/texts.h"

namespace tokamak::protocol {
namespace {

constexpr size_t kMaxSequencesOfRequest = 128, kMaxStops = 16, kMaxStopBytes = 256;
constexpr uint32_t kCompletionTokens = 16;
constexpr size_t kMaxBiases = 1024;
constexpr double kMaxBias = 100;

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

/// The options of a text request apart from its prompt.
Answer<TextRequest> rules_of(const Fields& fields) {
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
  if (fields.ignore_eos.value_or(false)) out.end_ids.emplace();
  out.logprobs = fields.logprobs.value_or(false) || fields.logprobs_count.has_value();
  out.top_logprobs = uint32_t(fields.top_logprobs.value_or(fields.logprobs_count.value_or(0)));
  if (fields.top_logprobs.value_or(0) > 0 && !out.logprobs) {
    return wrong("top_logprobs", "top_logprobs needs logprobs to be true.");
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

/// The options that the public TextRequest does not have.
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

/// The tokens that the fields leave of the context for the answer.
Answer<uint32_t> token_limit(const Fields& fields, const TextJob& job, size_t prompt,
                             uint32_t context) {
  if (prompt >= context) {
    return Refusal(ApiError{
        .message = fmt::format("The prompt has {} tokens, but the context has {}, in which the "
                               "answer must have room, too.",
                               prompt, context),
        .param = std::string(prompt_field(job)),
        .code = kContextLength});
  }
  const auto left = uint32_t(context - prompt);
  const uint32_t fallback = job.is_chat ? left : kCompletionTokens;
  const auto asked =
      fields.max_completion_tokens ? fields.max_completion_tokens : fields.max_tokens;
  return uint32_t(std::min<int64_t>(asked.value_or(fallback), left));
}

Answer<std::string> echo_of(const Engine& engine, const TextRequest& asked) {
  if (asked.ids.empty()) return asked.prompt;
  TOK_TRY(const Tokenizer* tokenizer, answer(engine.tokenizer()));
  return tokenizer->decode(asked.ids, true);
}

/// How many prompts there are, before they are looked into.
size_t prompts_of(const Fields& fields, bool is_chat) {
  const bool is_list = !is_chat && fields.prompt.is_array() && !fields.prompt.as_array().empty() &&
                       !fields.prompt.as_array().front().is_number();
  return is_list ? fields.prompt.as_array().size() : 1;
}

/// All sequences of a request: answers to each of its prompts.
Answer<uint32_t> sequences_of(size_t prompts, const TextJob& job) {
  const uint64_t all = uint64_t{prompts} * job.choices;
  if (all <= kMaxSequencesOfRequest) return uint32_t(all);
  if (job.choices == 1) {
    return wrong("prompt", "prompt has {} entries, expected at most {}.", prompts,
                 kMaxSequencesOfRequest);
  }
  return wrong("n", "{} answers to each of {} prompts are {}, expected at most {} of a request.",
               job.choices, prompts, all, kMaxSequencesOfRequest);
}

/// How many answers are made of each prompt, and how many of them are shown.
Answer<void> read_counts(const Fields& fields, TextJob& job) {
  job.shown = uint32_t(fields.n.value_or(1));
  job.choices = uint32_t(fields.best_of.value_or(fields.n.value_or(1)));
  if (job.choices < job.shown) {
    return wrong("best_of", "best_of is {}, expected at least n, which is {}.", job.choices,
                 job.shown);
  }
  if (job.streams && job.choices > job.shown) {
    return wrong("best_of", "best_of is {}, but only n answers ({}) can be streamed.", job.choices,
                 job.shown);
  }
  return {};
}

OutputFormat output_format(const ChatForm& chat, const Fields& fields, const ChatPrompt& prompt,
                           bool has_tools) {
  const bool keeps_reasoning = fields.reasoning_format.value_or("auto") == "none";
  OutputFormat form = answer_form(chat, prompt.text, keeps_reasoning);
  if (has_tools) {
    form.tools = chat.tools;
    form.tool_list = fields.tools;
  }
  return form;
}

/// The one prompt of a chat, and how its answers are read.
Answer<TextRequest> read_chat(const Engine& engine, const ChatForm& chat, const Fields& fields,
                              TextRequest rules, TextJob& job) {
  const std::string format = fields.reasoning_format.value_or("auto");
  if (format != "auto" && format != "none") {
    return wrong("reasoning_format", "reasoning_format is {}, expected auto or none.",
                 quoted(format));
  }
  TOK_TRY(Json variables, chat_prompt_variables(fields, chat));
  TOK_TRY(ChatPrompt prompt,
          answer(chat_prompt(engine, std::move(variables), {}, prompt_end(fields)), "messages"));
  TOK_TRY(const ToolChoice choice, tool_choice_of(fields));
  job.form = output_format(chat, fields, prompt, choice.shows);
  job.marks = chat.marks;
  for (const TokenMark& mark : chat.marks) {
    if (mark.is_special) job.form.special_marks.push_back(mark.text);
  }
  job.one_call_only = !fields.parallel_tool_calls.value_or(true);
  rules.ids = std::move(prompt.ids);
  return rules;
}

Result<Image> decoded(const ImageFile& file) {
  auto image = image_of_bytes(file.bytes);
  if (!image) return Failure(image.error().within(file.where));
  return image;
}

/// Decodes the images of a chat and brings them to the size that the model takes. `tokens`: of the
/// prompt, in which each is one; then of the prompt with all of them in their places.
Answer<void> read_images(const TextReading& with, std::span<const ImageFile> files, TextJob& job,
                         size_t& tokens) {
  if (files.empty()) return {};
  const auto image = [&](size_t i) { return decoded(files[i]); };
  TOK_TRY(job.images, answer(fit_images(with.engine, tokens, files.size(), image), "messages"));
  uint64_t bytes = 0;
  for (const FittedImage& one : job.images) {
    tokens += one.tokens - 1;
    bytes += one.pixels.rgb.size();
  }
  TOK_TRY(job.lease, lease_of(with.decoded, bytes));
  return {};
}

/// The prompts of a completion; everything else of a TextRequest stays as `rules` has it.
Answer<std::vector<TextRequest>> read_prompts(const Engine& engine, const Fields& fields,
                                              const TextRequest& rules) {
  TOK_TRY(Texts prompts,
          texts_of(fields.prompt, "prompt", engine.compiled().facts.vocab, kMaxSequencesOfRequest));
  std::vector<TextRequest> out;
  for (std::string& text : prompts.texts) {
    TextRequest& one = out.emplace_back(rules);
    one.prompt = std::move(text);
    one.suffix = fields.suffix.value_or("");
  }
  if (!fields.suffix.value_or("").empty() && !prompts.ids.empty()) {
    return wrong("suffix", "suffix goes with prompts in text, and prompt is one of token ids.");
  }
  for (auto& ids : prompts.ids) out.emplace_back(rules).ids = std::move(ids);
  return out;
}

}  // namespace

Answer<std::vector<ImageFile>> chat_images(const Engine& engine, const Fields& fields) {
  if (!fields.messages.is_array()) return {};
  TOK_TRY(std::vector<ImageFile> images, image_files(fields.messages));
  if (!images.empty()) TOK_TRY(answer(engine.check_images(), "messages"));
  return images;
}

Answer<uint64_t> tokens_with_images(const Engine& engine, uint64_t tokens,
                                    std::span<const ImageFile> images) {
  for (const ImageFile& file : images) {
    TOK_TRY(const Image image, answer(decoded(file), "messages"));
    TOK_TRY(const uint32_t more, answer(engine.image_tokens({image.width, image.height})));
    tokens += more - 1;  // its placeholder is there
  }
  return tokens;
}

Answer<TextJob> read_text_job(const TextReading& with, const TextBody& body,
                              const std::string& tenant, const HttpRequest::Admit& admit) {
  const Engine& engine = with.engine;
  const Fields& fields = body.fields;
  TextJob job;
  job.is_chat = body.is_chat;
  if (fields.seed && *fields.seed != -1) job.seed = uint64_t(*fields.seed);
  job.streams = fields.stream.value_or(false);
  TOK_TRY(read_counts(fields, job));
  TOK_TRY(const uint32_t sequences, sequences_of(prompts_of(fields, body.is_chat), job));
  if (admit) TOK_TRY(admit(sequences));
  TOK_TRY(job.counts_usage, counts_usage(fields));
  TOK_TRY(job.stop, stops_of(fields.stop));
  TOK_TRY(TextRequest rules, rules_of(fields));
  job.has_logprobs = rules.logprobs;
  rules.tenant = tenant;
  rules.logprobs = rules.logprobs || job.choices > job.shown;
  const bool echoes = fields.echo.value_or(false);
  rules.prompt_logprobs = echoes && job.has_logprobs;
  if (rules.prompt_logprobs && !fields.suffix.value_or("").empty()) {
    return wrong("suffix", "suffix does not go with echo and logprobs together.");
  }
  std::vector<TextRequest> prompts;
  std::vector<ImageFile> images;
  if (body.is_chat) {
    TOK_TRY(images, chat_images(engine, fields));
    TOK_TRY(TextRequest prompt, read_chat(engine, with.chat, fields, std::move(rules), job));
    prompts.push_back(std::move(prompt));
  } else {
    TOK_TRY(prompts, read_prompts(engine, fields, rules));
  }
  TOK_TRY(const ConstrainedAnswer held, with.grammars.of(fields, job.form, tenant));
  job.form.holds_calls = held.holds_calls;
  job.form.demands_calls = held.demands_calls;
  // Held calls may have their marks spelled, but for those that are special tokens.
  for (const TokenMark& mark : job.marks) {
    if (!held.holds_calls || mark.is_special) job.form.token_marks.push_back(mark.text);
  }
  for (const TextRequest& asked : prompts) {
    TOK_TRY(Request request, answer(scheduler_request(engine, asked), prompt_field(job)));
    if (body.is_chat && !fields.ignore_eos.value_or(false)) {
      add_end_ids(with.chat, request.params);
    }
    TOK_TRY(
        add_rules(request.params.sampling, request.params, fields, engine.compiled().facts.vocab));
    request.params.grammar = held.grammar;
    size_t tokens = request.prompt.size();
    TOK_TRY(read_images(with, images, job, tokens));
    TOK_TRY(request.params.max_tokens, token_limit(fields, job, tokens, engine.compiled().context));
    job.prompts.push_back(std::move(request));
    TOK_TRY(std::string echo, echoes ? echo_of(engine, asked) : Answer<std::string>(""));
    job.echoes.push_back(std::move(echo));
  }
  return job;
}

Answer<void> finish_text_job(Engine& engine, TextJob& job) {
  if (job.images.empty()) return {};
  // Only a chat has images, and that is one prompt.
  return answer(add_images(engine, std::exchange(job.images, {}), job.prompts.front()),
                prompt_field(job));
}

}  // namespace tokamak::protocol
