#include "engine/requests/text_request.h"

#include "engine/image_encoder.h"
#include "text/template/plain_marks.h"
#include "text/tokenizer/middle_prompt.h"

namespace tokamak {
namespace {

/// The images, then the text: what models were trained on.
Json content_of(const ChatMessage& message) {
  if (message.images.empty()) return message.content;
  Json::Array parts(message.images.size(), Json(Json::Object{{"type", "image"}}));
  parts.push_back(Json(Json::Object{{"type", "text"}, {"text", message.content}}));
  return parts;
}

/// The variables of the chat template. The caller's own come last, so that they win.
Result<Json> chat_variables(const TextRequest& asked) {
  Json::Array messages;
  for (const ChatMessage& message : asked.messages) {
    Json one;
    one.set("role", message.role);
    one.set("content", content_of(message));
    messages.push_back(std::move(one));
  }
  Json variables;
  variables.set("messages", std::move(messages));
  variables.set("add_generation_prompt", true);
  if (asked.chat_variables.empty()) return variables;
  const auto more = Json::parse(asked.chat_variables);
  if (!more) return Failure(more.error().within("chat_variables"));
  if (!more->is_object()) return invalid_input("chat_variables: expected a JSON object.");
  if (!asked.messages.empty() && more->find("messages") != nullptr) {
    return fail(ErrorCode::kUsage, "The request has messages, and chat_variables has others.");
  }
  for (const auto& [name, value] : more->as_object()) variables.set(name, value);
  return variables;
}

Result<std::vector<uint32_t>> prompt_ids(const Engine& engine, const TextRequest& asked) {
  const bool is_chat = !asked.messages.empty() || !asked.chat_variables.empty();
  if (int(is_chat) + int(!asked.prompt.empty()) + int(!asked.ids.empty()) > 1) {
    return fail(ErrorCode::kUsage, "The request has more than one of prompt, ids and a chat.");
  }
  if (!asked.ids.empty()) return asked.ids;
  TOK_TRY(const Tokenizer* tokenizer, engine.tokenizer());
  if (!is_chat) return tokenizer->encode(asked.prompt);
  TOK_TRY(Json variables, chat_variables(asked));
  TOK_TRY(ChatPrompt prompt, chat_prompt(engine, std::move(variables)));
  return std::move(prompt.ids);
}

Result<MiddlePrompt> gap_prompt(const Engine& engine, const TextRequest& asked) {
  if (!asked.ids.empty() || !asked.messages.empty() || !asked.chat_variables.empty()) {
    return fail(ErrorCode::kUsage, "The request has a suffix, which goes with a prompt in text.");
  }
  TOK_TRY(const Tokenizer* tokenizer, engine.tokenizer());
  return middle_prompt(*tokenizer, asked.prompt, asked.suffix);
}

/// The grammar that the text must follow; null for none.
Result<std::shared_ptr<const Grammar>> grammar_of(const TextRequest& asked) {
  const int given = int(!asked.grammar.empty()) + int(!asked.json_schema.empty()) +
                    int(!asked.regex.empty()) + int(!asked.choices.empty());
  if (given > 1) {
    return fail(ErrorCode::kUsage,
                "The request has more than one of grammar, json_schema, regex and choices.");
  }
  if (given == 0) return std::shared_ptr<const Grammar>();
  const auto named = [](const char* name,
                        Result<Grammar> grammar) -> Result<std::shared_ptr<const Grammar>> {
    if (!grammar) return Failure(grammar.error().within(name));
    return std::make_shared<const Grammar>(*std::move(grammar));
  };
  if (!asked.grammar.empty()) return named("grammar", Grammar::parse(asked.grammar));
  if (!asked.regex.empty()) return named("regex", Grammar::from_regex(asked.regex));
  if (!asked.choices.empty()) return named("choices", Grammar::from_choices(asked.choices));
  return named("json_schema", Grammar::from_json_schema(asked.json_schema));
}

/// Errors: a token beyond the vocabulary. The ids at which the text ends are settled already.
Result<void> add_rules(const Engine& engine, const TextRequest& asked, GenerationParams& params) {
  const uint32_t vocab = engine.compiled().facts.vocab;
  SamplingParams& sampling = params.sampling;
  for (const auto& [id, bias] : asked.logit_bias) {
    if (id < vocab) continue;
    return invalid_input("logit_bias has token {}, but the vocabulary has {}.", id, vocab);
  }
  sampling.logit_bias = asked.logit_bias;
  sampling.presence_penalty = asked.presence_penalty;
  sampling.frequency_penalty = asked.frequency_penalty;
  sampling.min_tokens = asked.min_tokens;
  if (asked.min_tokens == 0) return {};
  for (const uint32_t id : params.end_ids.value_or(std::vector<uint32_t>())) {
    if (id < vocab) sampling.late_ids.push_back(id);
  }
  return {};
}

template <typename T>
void override_with(T& value, const std::optional<T>& asked) {
  if (asked) value = *asked;
}

}  // namespace

Result<void> cut_at_last(std::string& text, std::string_view end) {
  if (end.empty()) return {};
  const size_t at = text.rfind(end);
  if (at == text.npos) {
    return invalid_input(
        "The chat template does not show the last message as it is: it cannot be continued.");
  }
  text.resize(at);
  return {};
}

Result<ChatPrompt> chat_prompt(const Engine& engine, Json variables, std::string_view instead,
                               std::string_view end) {
  TOK_TRY(const Tokenizer* tokenizer, engine.tokenizer());
  const auto places = [&](std::string_view text) { return tokenizer->special_places(text); };
  for (const char* name : {"messages", "tools"}) {
    if (Json* found = variables.find(name)) *found = with_plain_marks(*found, places);
  }
  TOK_TRY(std::string rendered, render_chat(engine.files(), variables, instead));
  TOK_TRY(cut_at_last(rendered, end));
  PlainText plain = without_plain_marks(rendered);
  const auto& vision = engine.compiled().vision;
  if (vision) plain = with_image_words(*vision, std::move(plain));
  ChatPrompt prompt;
  TOK_TRY(prompt.ids, tokenizer->encode(plain.text, {.add_special = false,
                                                     .parse_special = true,
                                                     .plain_at = plain.plain_at}));
  prompt.text = std::move(plain.text);
  return prompt;
}

Result<Request> scheduler_request(const Engine& engine, const TextRequest& asked) {
  Request request;
  TOK_TRY(GenerationParams params, engine.defaults());
  if (asked.suffix.empty()) {
    TOK_TRY(request.prompt, prompt_ids(engine, asked));
  } else {
    TOK_TRY(MiddlePrompt prompt, gap_prompt(engine, asked));
    request.prompt = std::move(prompt.ids);
    std::vector<uint32_t>& ends = params.end_ids ? *params.end_ids : params.end_ids.emplace();
    ends.insert(ends.end(), prompt.end_ids.begin(), prompt.end_ids.end());
  }
  SamplingParams& sampling = params.sampling;
  override_with(sampling.temperature, asked.temperature);
  override_with(sampling.top_k, asked.top_k);
  override_with(sampling.top_p, asked.top_p);
  override_with(sampling.min_p, asked.min_p);
  override_with(sampling.typical_p, asked.typical_p);
  override_with(sampling.repetition_penalty, asked.repetition_penalty);
  sampling.seed = asked.seed;
  params.max_tokens = asked.max_tokens;
  params.stop = asked.stop;
  if (asked.end_ids) params.end_ids = asked.end_ids;
  TOK_TRY(add_rules(engine, asked, params));
  params.logprobs = asked.logprobs || asked.top_logprobs > 0;
  params.top_logprobs = asked.top_logprobs;
  params.prompt_logprobs = asked.prompt_logprobs;
  TOK_TRY(params.grammar, grammar_of(asked));
  request.params = std::move(params);
  request.priority = asked.priority;
  request.tenant = asked.tenant;
  TOK_TRY(request.adapter, adapter_number(engine.files(), asked.adapter));
  return request;
}

Result<std::vector<FittedImage>> fit_images(const Engine& engine, size_t prompt_tokens,
                                            size_t count,
                                            const std::function<Result<Image>(size_t)>& image) {
  std::vector<FittedImage> out;
  size_t tokens = prompt_tokens;
  for (size_t i = 0; i < count; ++i) {
    TOK_TRY(engine.check_images());
    TOK_TRY(Image own, image(i));
    TOK_TRY(const uint32_t more, engine.image_tokens({own.width, own.height}));
    tokens += more - 1;
    const uint32_t context = engine.compiled().context;
    if (tokens > context) {
      return invalid_input(
          "The prompt has {} tokens with its first {} images, but the context has "
          "{} positions.",
          tokens, i + 1, context);
    }
    TOK_TRY(FittedImage fitted, engine.fit_image(std::move(own)));
    out.push_back(std::move(fitted));
  }
  return out;
}

Result<void> add_images(Engine& engine, std::vector<FittedImage> images, Request& request) {
  if (images.empty()) return {};
  for (FittedImage& image : images) {
    TOK_TRY(ImageRef added, engine.add_image(std::move(image), request.tenant));
    request.images.push_back(std::move(added));
  }
  TOK_TRY(request.prompt, engine.place_images(request.prompt, request.images));
  return {};
}

}  // namespace tokamak
