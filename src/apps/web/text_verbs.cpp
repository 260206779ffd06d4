// Requests for texts and for vectors, and what tokenizer and template make of a text.
#include <algorithm>
#include <charconv>
#include <iterator>

#include "apps/web/fields.h"
#include "apps/web/host.h"
#include "apps/web/verbs.h"
#include "base/splitmix.h"
#include "engine/requests/image_files.h"
#include "engine/requests/text_request.h"
#include "protocol/chat/image_parts.h"

namespace tokamak::web {
namespace {

constexpr uint64_t kMaxSafeInteger = (uint64_t{1} << 53) - 1;  // of JavaScript

/// Images become parts {"type": "image"}, as templates read them.
Json with_image_parts(const Json& messages) {
  Json out = messages;
  for (Json& message : out.as_array()) {
    Json* const content = message.find("content");
    if (content == nullptr || !content->is_array()) continue;
    for (Json& part : content->as_array()) {
      if (protocol::is_image_part(part)) part = Json(Json::Object{{"type", "image"}});
    }
  }
  return out;
}

/// The files of the images of "messages", or of "images", for which a prompt has places.
Result<std::vector<protocol::ImageFile>> image_files(const Json& options) {
  std::vector<protocol::ImageFile> out;
  const auto refused = [](const protocol::ApiError& error) {
    return fail(ErrorCode::kUsage, "{}", error.message);
  };
  if (const Json* const messages = options.find("messages")) {
    auto files = protocol::image_files(*messages);
    if (!files) return refused(files.error());
    out = *std::move(files);
  }
  const Json* const images = options.find("images");
  if (images == nullptr || images->is_null()) return out;
  if (!images->is_array()) return fail(ErrorCode::kUsage, "\"images\" is no list.");
  for (const Json& part : images->as_array()) {
    const std::string where = fmt::format("images[{}]", out.size());
    auto bytes = protocol::image_bytes(part, where);
    if (!bytes) return refused(bytes.error());
    out.push_back({where, *std::move(bytes)});
  }
  return out;
}

/// They take their places in the prompt.
Result<void> add_images_of(const Json& options, Engine& engine, Request& request) {
  TOK_TRY(const auto files, image_files(options));
  const auto image = [&](size_t i) -> Result<Image> {
    auto decoded = image_of_bytes(files[i].bytes);
    if (!decoded) return Failure(decoded.error().within(files[i].where));
    return decoded;
  };
  TOK_TRY(std::vector<FittedImage> images,
          fit_images(engine, request.prompt.size(), files.size(), image));
  return add_images(engine, std::move(images), request);
}

/// The chat of `messages`, `tools` and `variables`, as a template's variables; null where there are
/// no messages.
Result<Json> chat_of(Fields& fields) {
  const Json *messages = fields.find("messages"), *tools = fields.find("tools"),
             *variables = fields.find("variables");
  if (messages == nullptr) return Json();
  if (!messages->is_array()) return fail(ErrorCode::kUsage, "\"messages\" is no list.");
  Json chat;
  chat.set("messages", with_image_parts(*messages)).set("add_generation_prompt", true);
  if (tools != nullptr) chat.set("tools", *tools);
  if (variables != nullptr) {
    if (!variables->is_object()) return fail(ErrorCode::kUsage, "\"variables\" is no object.");
    for (const auto& [name, value] : variables->as_object()) chat.set(name, value);
  }
  return chat;
}

/// {"ID": bias}
Result<std::vector<std::pair<uint32_t, float>>> logit_bias(const Json* given) {
  std::vector<std::pair<uint32_t, float>> out;
  if (given == nullptr) return out;
  const auto refused = [&] {
    return fail(ErrorCode::kUsage,
                "\"logitBias\" is {}, expected an object of token ids and numbers.", shown(*given));
  };
  if (!given->is_object()) return refused();
  for (const auto& [name, bias] : given->as_object()) {
    uint32_t id = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc{} || end != name.data() + name.size() || !bias.is_number()) {
      return refused();
    }
    out.emplace_back(id, float(bias.as_number()));
  }
  return out;
}

Result<TextRequest> text_request(const Json& options) {
  TextRequest request;
  Fields fields(options);
  TOK_TRY(const Json chat, chat_of(fields));
  fields.find("images");  // image_files() reads them
  if (!chat.is_null()) request.chat_variables = chat.dump();
  if (const Json* schema = fields.find("jsonSchema")) request.json_schema = schema->dump();
  TOK_TRY(request.logit_bias, logit_bias(fields.find("logitBias")));
  std::optional<uint32_t> logprobs;
  fields.take("prompt", request.prompt)
      .take("suffix", request.suffix)
      .take("ids", request.ids)
      .take("maxTokens", request.max_tokens)
      .take("minTokens", request.min_tokens)
      .take("temperature", request.temperature)
      .take("topK", request.top_k)
      .take("topP", request.top_p)
      .take("minP", request.min_p)
      .take("typicalP", request.typical_p)
      .take("repetitionPenalty", request.repetition_penalty)
      .take("presencePenalty", request.presence_penalty)
      .take("frequencyPenalty", request.frequency_penalty)
      .take("seed", request.seed)
      .take("stop", request.stop)
      .take("endIds", request.end_ids)
      .take("grammar", request.grammar)
      .take("regex", request.regex)
      .take("choices", request.choices)
      .take("logprobs", logprobs)
      .take("priority", request.priority);
  TOK_TRY(fields.done());
  request.logprobs = logprobs.has_value();
  request.top_logprobs = logprobs.value_or(0);
  return request;
}

/// The form of the answer to a chat's prompt; nothing where there is no chat. A grammar lets
/// nothing else come: all of the answer is text then.
Result<std::optional<AnswerForm>> chat_answer_form(State& state, const Json& options,
                                                   Request& request) {
  static const protocol::ChatForm kPlain;
  if (options.find("messages") == nullptr) return std::nullopt;
  TOK_TRY(const Tokenizer* const own, tokenizer(state));
  if (!state.chat) state.chat = protocol::find_chat_form(state.engine->files(), own);
  const Json *ends = options.find("endIds"), *tools = options.find("tools");
  if (ends == nullptr || ends->is_null()) protocol::add_end_ids(*state.chat, request.params);
  const protocol::ChatForm& chat = request.params.grammar ? kPlain : *state.chat;
  AnswerForm form{*own, protocol::reasoning_format(chat, own->decode(request.prompt)), chat.marks};
  // A model whose template knows none has not seen them.
  if (tools != nullptr && !tools->is_null() && !chat.is_generic) {
    form.format.tools = chat.tools;
    form.format.tool_list = *tools;
  }
  return form;
}

}  // namespace

/// {prompt[, suffix] | ids | messages[, tools, variables], maxTokens, minTokens, temperature, topK,
/// topP, minP, typicalP, repetitionPenalty, presencePenalty, frequencyPenalty, logitBias, seed,
/// stop, endIds, grammar, jsonSchema, regex, choices, logprobs, priority, images} -> {request}.
/// Images are parts of messages as in OpenAI's chats, or such parts in `images`. Reasoning, and
/// calls of `tools`, come apart in the answer to messages.
Result<Json> generate(State& state, const Json& options) {
  TOK_TRY(Engine* const engine, open_engine(state));
  TOK_TRY(const TextRequest asked, text_request(options));
  TOK_TRY(Request request, scheduler_request(*engine, asked));
  TOK_TRY(std::optional<AnswerForm> form, chat_answer_form(state, options, request));
  TOK_TRY(add_images_of(options, *engine, request));
  std::optional<uint64_t>& seed = request.params.sampling.seed;
  if (!seed) seed = fresh_seed(steady_clock()(), ++state.seeds) & kMaxSafeInteger;
  TOK_TRY(Scheduler* const scheduler, engine->scheduler());
  TOK_TRY(const uint32_t number,
          state.requests.add(*scheduler, std::move(request), std::move(form)));
  Json out;
  out.set("request", number);
  return out;
}

/// {} -> {more, events}. Waits until the oldest step in flight has arrived.
Result<Json> step(State& state, const Json& options) {
  TOK_TRY(Fields(options).done());
  TOK_TRY(Engine* const engine, open_engine(state));
  bool has_more = false;
  // Exchanges with a model that gives vectors or scores are answered when they begin.
  if (engine->compiled().gives_text()) {
    TOK_TRY(Scheduler* const scheduler, engine->scheduler());
    TOK_TRY(has_more, scheduler->step());
    if (has_more) TOK_TRY(scheduler->wait());
  }
  Json::Array events = state.requests.take_events();
  std::ranges::move(state.exchanges.take_events(), std::back_inserter(events));
  Json out;
  out.set("more", has_more).set("events", std::move(events));
  return out;
}

/// {request} -> {}
Result<Json> cancel(State& state, const Json& options) {
  uint32_t request = 0;
  TOK_TRY(Fields(options).take("request", request).done());
  TOK_TRY(Engine* const engine, open_engine(state));
  TOK_TRY(Scheduler* const scheduler, engine->scheduler());
  state.requests.cancel(*scheduler, request);
  return Json(Json::Object{});
}

/// {method, path, body} -> {exchange}: a request of OpenAI's protocol, whose answer step() brings
Result<Json> openai(State& state, const Json& options) {
  protocol::HttpRequest request;
  TOK_TRY(Fields(options)
              .take("method", request.method)
              .take("path", request.path)
              .take("body", request.body)
              .done());
  TOK_TRY(Engine* const engine, open_engine(state));
  TOK_TRY(const uint32_t exchange, state.exchanges.begin(*engine, request));
  Json out;
  out.set("exchange", exchange);
  return out;
}

/// {exchange} -> {}
Result<Json> openai_cancel(State& state, const Json& options) {
  uint32_t exchange = 0;
  TOK_TRY(Fields(options).take("exchange", exchange).done());
  state.exchanges.cancel(exchange);
  return Json(Json::Object{});
}

/// {text, special} -> {ids, pieces}: special: with what the tokenizer puts around a text.
Result<Json> tokenize(State& state, const Json& options) {
  std::string text;
  bool special = true;
  TOK_TRY(Fields(options).take("text", text).take("special", special).done());
  TOK_TRY(const Tokenizer* const own, tokenizer(state));
  TOK_TRY(const std::vector<uint32_t> ids, own->encode(text, {.add_special = special}));
  Json::Array numbers, pieces;
  for (const uint32_t id : ids) {
    numbers.emplace_back(id);
    pieces.emplace_back(own->bytes(id));
  }
  Json out;
  out.set("ids", std::move(numbers)).set("pieces", std::move(pieces));
  return out;
}

/// {ids} -> {text}
Result<Json> detokenize(State& state, const Json& options) {
  std::vector<uint32_t> ids;
  TOK_TRY(Fields(options).take("ids", ids).done());
  TOK_TRY(const Tokenizer* const own, tokenizer(state));
  Json out;
  out.set("text", own->decode(ids));
  return out;
}

/// {messages, tools, variables} -> {text}: the prompt that a chat becomes.
Result<Json> render(State& state, const Json& options) {
  Fields fields(options);
  TOK_TRY(const Json chat, chat_of(fields));
  TOK_TRY(fields.done());
  TOK_TRY(const Seen model, seen(state));
  if (chat.is_null()) return fail(ErrorCode::kUsage, "There are no \"messages\".");
  TOK_TRY(std::string text, render_chat(model.files, chat));
  Json out;
  out.set("text", std::move(text));
  return out;
}

/// {query, documents, instruction, truncate} -> {scores}, one of each document: more is better
Result<Json> rerank(State& state, const Json& options) {
  std::string query;
  std::vector<std::string> documents;
  RerankOptions how;
  TOK_TRY(Fields(options)
              .take("query", query)
              .take("documents", documents)
              .take("instruction", how.instruction)
              .take("truncate", how.truncate)
              .done());
  TOK_TRY(Engine* const engine, open_engine(state));
  how.cancelled = cancelled;
  TOK_TRY(const std::vector<float> scores, engine->rerank(query, documents, how));
  Json::Array numbers;
  for (const float score : scores) numbers.emplace_back(double(score));
  Json out;
  out.set("scores", std::move(numbers));
  return out;
}

/// {texts, prompt, dimensions, normalize, truncate} -> {vectors}
Result<Json> embed(State& state, const Json& options) {
  std::vector<std::string> texts;
  EmbedOptions how;
  TOK_TRY(Fields(options)
              .take("texts", texts)
              .take("prompt", how.prompt)
              .take("dimensions", how.dimensions)
              .take("normalize", how.normalize)
              .take("truncate", how.truncate)
              .done());
  TOK_TRY(Engine* const engine, open_engine(state));
  how.cancelled = cancelled;
  TOK_TRY(const auto vectors, engine->embed(texts, how));
  Json::Array lists;
  for (const std::vector<float>& vector : vectors) {
    Json::Array numbers;
    for (const float number : vector) numbers.emplace_back(double(number));
    lists.emplace_back(std::move(numbers));
  }
  Json out;
  out.set("vectors", std::move(lists));
  return out;
}

}  // namespace tokamak::web
