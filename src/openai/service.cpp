#include "openai/service.h"

#include "base/hash.h"
#include "engine/memory.h"
#include "engine/text_request.h"
#include "openai/plain_answers.h"
#include "openai/readers.h"
#include "openai/transcriptions.h"

namespace tokamak::openai {
namespace {

/// Changes where answers to the same request may.
std::string fingerprint_of(const Engine& engine) {
  uint64_t hash = kHashStart;
  for (const std::string& part :
       {engine.files().name, engine.compiled().facts.architecture, engine.device().name,
        std::to_string(engine.compiled().context), std::string(TOKAMAK_VERSION)}) {
    hash = hash_bytes(std::span<const char>(part), hash);
  }
  return fmt::format("fp_{:016x}", hash);
}

std::unique_ptr<AnswerWriter> writer_for(Endpoint endpoint, AnswerHead head) {
  const auto named = [&](std::string_view prefix) {
    head.id = random_id(prefix, head.random);
    return std::move(head);
  };
  switch (endpoint) {
    case kCompletions:
      return completion_writer(named("cmpl-"));
    case kResponses:
      return responses_writer(named("resp_"));
    case kMessages:
      return anthropic_writer(named("msg_"));
    case kOllamaChat:
      return ollama_chat_writer(std::move(head));
    case kOllamaGenerate:
      return ollama_generate_writer(std::move(head));
    default:
      return chat_writer(named("chatcmpl-"));
  }
}

}  // namespace

Result<std::unique_ptr<Service>> Service::make(Engine& engine, ServiceOptions options) {
  if (options.model.empty() || !options.unix_seconds || !options.random) {
    return fail(ErrorCode::kUsage, "A service needs the model's id, a clock and random numbers.");
  }
  TOK_TRY(open_speech(engine, options.speech));
  return std::unique_ptr<Service>(new Service(engine, std::move(options)));
}

Service::Service(Engine& engine, ServiceOptions options)
    : engine_(&engine),
      options_(std::move(options)),
      names_({options_.model}),
      fingerprint_(fingerprint_of(engine)),
      chat_(find_chat_form(engine.files(), engine.tokenizer().value_or(nullptr))),
      card_(model_card(engine.files(), engine.compiled(), chat_)) {
  names_.insert(names_.end(), options_.aliases.begin(), options_.aliases.end());
  for (const std::string& adapter : card_.adapters) {
    if (!is_name_of(adapter, names_)) names_.push_back(adapter);
  }
  card_.id = options_.model;
  card_.created = options_.created;
}

Service::~Service() {
  while (!running_.empty()) cancel(running_.begin()->first);
}

PreparedRequest Service::prepare(HttpRequest request) {
  PreparedRequest out = {.request = std::move(request), .route = nullptr};
  out.route = find_route(out.request);
  if (!out.route) return out;
  const Route& route = **out.route;
  if (route.action == Action::kText) {
    out.text = prepare_text(out.request, route);
  } else {
    out.answer = prepare_answer(out.request, route);
  }
  return out;
}

ExchangeId Service::begin_prepared(PreparedRequest prepared, Sink sink) {
  forget_ended();
  const HttpRequest& request = prepared.request;
  const auto id = ExchangeId(next_id_++);
  const auto refuse = [&](const ApiError& error) {
    if (!error.allow.empty() && sink.header) sink.header("Allow", error.allow);
    sink.whole(error.status, error.body(dialect_of(request.path)).dump());
    return id;
  };
  const auto& route = prepared.route;
  if (!route) return refuse(route.error());
  if (prepared.text) {
    if (!*prepared.text) return refuse(prepared.text->error());
    auto started = start_text(**std::move(prepared.text), **route, sink);
    if (!started) return refuse(started.error());
    if (*started) running_.emplace(id, **std::move(started));
    return id;
  }
  if ((*route)->action == Action::kSpeak) {
    const auto started = start_speech(id, request, sink);
    return started ? id : refuse(started.error());
  }
  if (const Action action = (*route)->action;
      action == Action::kTranscribe || action == Action::kTranslate) {
    const auto heard = transcribe(*engine_, request, action == Action::kTranslate,
                                  [this](std::string_view model) { return check_model(model); });
    if (!heard) return refuse(heard.error());
    sink.whole(200, heard->text, heard->content_type);
    return id;
  }
  const auto answer =
      prepared.answer ? *std::move(prepared.answer) : plain_answer(request, **route);
  if (!answer) return refuse(answer.error());
  sink.whole(200, answer->dump());
  return id;
}

Answer<void> Service::start_speech(ExchangeId id, const HttpRequest& request, const Sink& sink) {
  TOK_TRY(const Fields fields, read_fields(request.body, kSpeech));
  TOK_TRY(check_model(fields));
  TOK_TRY(auto job,
          make_speech_job(*engine_, options_.speech, fields, options_.random() >> 1, sink));
  speeches_.push_back({id, std::move(job)});
  return {};
}

void Service::speak() {
  if (!speeches_.front().job->step()) speeches_.pop_front();
}

void Service::cancel(ExchangeId id) {
  if (std::erase_if(speeches_, [id](const Speech& one) { return one.id == id; }) > 0) return;
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  found->second.exchange->abandon();
  if (const auto scheduler = engine_->scheduler()) {
    for (const RequestId request : found->second.requests) (*scheduler)->cancel(request);
  }
  running_.erase(found);
}

void Service::hold(ExchangeId id, bool is_held) {
  const auto found = running_.find(id);
  const auto scheduler = engine_->scheduler();
  if (found == running_.end() || !scheduler) return;
  for (const RequestId request : found->second.requests) (*scheduler)->hold(request, is_held);
}

size_t Service::running() {
  forget_ended();
  return running_.size() + speeches_.size();
}

void Service::forget_ended() {
  std::erase_if(running_, [](const auto& one) { return one.second.exchange->is_over(); });
}

Answer<void> Service::check_model(const Fields& fields) const {
  return check_model(fields.model ? std::string_view(*fields.model) : "");
}

Answer<void> Service::check_model(std::string_view asked) const {
  if (asked.empty() || is_name_of(asked, names_)) return {};
  return Refusal(unknown_model(asked, std::span(&names_, 1)));
}

Answer<PreparedText> Service::prepare_text(const HttpRequest& request, const Route& route) {
  PreparedText out;
  TOK_TRY(out.body, read_text_body(request.body, route.endpoint));
  const Fields& fields = out.body.fields;
  TOK_TRY(check_model(fields));
  out.adapter = asked_adapter(card_, fields.model.value_or(""));
  TOK_TRY(const uint32_t number, answer(adapter_number(engine_->files(), out.adapter), "model"));
  if (out.body.only_loads) return out;
  TOK_TRY(answer(engine_->tokenizer(), "model"));
  // The length keeps apart what the two say together.
  const std::string tenant =
      fmt::format("{}:{}{}", request.tenant.size(), request.tenant, fields.cache_salt.value_or(""));
  TOK_TRY(out.job, read_text_job(*engine_, chat_, grammars_, fields, out.body.is_chat, tenant));
  for (Request& prompt : out.job.prompts) prompt.adapter = number;
  return out;
}

Answer<std::optional<Service::Running>> Service::start_text(PreparedText prepared,
                                                            const Route& route, const Sink& sink) {
  const TextBody& body = prepared.body;
  const std::string& adapter = prepared.adapter;
  TextJob& job = prepared.job;
  AnswerHead head = {.id = {},
                     .created = options_.unix_seconds(),
                     .model = adapter.empty() ? options_.model : adapter,
                     .fingerprint = fingerprint_,
                     .random = options_.random};
  if (body.only_loads) {
    sink.whole(200, ollama_load_json(head.model, head.created, route.endpoint, "load").dump());
    return std::nullopt;
  }
  TOK_TRY(Scheduler * scheduler, answer(engine_->scheduler(), "model"));
  TOK_TRY(const Tokenizer* tokenizer, answer(engine_->tokenizer(), "model"));
  TOK_TRY(finish_text_job(*engine_, body.fields, body.is_chat, job));
  for (const Request& prompt : job.prompts) {
    TOK_TRY(answer(scheduler->check(prompt), body.is_chat ? "messages" : "prompt"));
    head.prompt_tokens += prompt.prompt.size();
  }
  head.counts_usage = job.counts_usage;
  head.has_logprobs = job.has_logprobs;
  head.tokenizer = tokenizer;
  Running running;
  running.exchange =
      std::make_shared<TextExchange>(*tokenizer, writer_for(route.endpoint, std::move(head)),
                                     route.dialect, std::move(job), options_.random, sink);
  for (size_t i = 0; i < running.exchange->size(); ++i) {
    const auto id = scheduler->add(running.exchange->request(i));
    if (!id) {
      running.exchange->abandon();
      return Refusal(api_error(id.error()));
    }
    running.requests.push_back(*id);
  }
  return running;
}

std::optional<Answer<Json>> Service::prepare_answer(const HttpRequest& request,
                                                    const Route& route) {
  switch (route.action) {
    case Action::kCountTokens: {
      const auto body = read_text_body(request.body, route.endpoint);
      if (!body) return Answer<Json>(Refusal(body.error()));
      const auto is_right = check_model(body->fields);
      if (!is_right) return Answer<Json>(Refusal(is_right.error()));
      return count_tokens(*engine_, body->fields, chat_);
    }
    case Action::kTokenize:
      return tokenize(*engine_, request.body);
    case Action::kDetokenize:
      return detokenize(*engine_, request.body);
    case Action::kApplyTemplate:
      return apply_template(*engine_, request.body, chat_);
    default:
      return std::nullopt;
  }
}

Answer<Json> Service::plain_answer(const HttpRequest& request, const Route& route) {
  switch (route.action) {
    case Action::kText:
    case Action::kSpeak:
    case Action::kTranscribe:
    case Action::kTranslate:
    case Action::kCountTokens:
    case Action::kTokenize:
    case Action::kDetokenize:
    case Action::kApplyTemplate:
      break;
    case Action::kEmbeddings: {
      TOK_TRY(const Fields fields, read_fields(request.body, route.endpoint));
      TOK_TRY(check_model(fields));
      return embeddings(*engine_, fields, options_.model, route.endpoint);
    }
    case Action::kRerank: {
      TOK_TRY(const Fields fields, read_fields(request.body, route.endpoint));
      TOK_TRY(check_model(fields));
      return rerank(*engine_, fields, options_.model);
    }
    case Action::kModels: {
      std::vector<ModelCard> cards = {card_};
      for (const std::string& name : card_.adapters) cards.push_back(called(card_, name));
      return models_json(cards);
    }
    case Action::kModel: {
      const std::string asked = asked_model(request.path);
      const std::string adapter = asked_adapter(card_, asked);
      if (!adapter.empty()) return model_json(called(card_, adapter));
      if (is_name_of(asked, names_)) return model_json(card_);
      return Refusal(unknown_model(asked, std::span(&names_, 1)));
    }
    case Action::kHealth:
      return Json(Json::Object{{"status", "ok"}});
    case Action::kVoices:
      return voices_json(options_.speech);
    case Action::kProps:
      return props(card_, chat_);
    case Action::kOllamaTags:
      return ollama_tags(std::span(&card_, 1));
    case Action::kOllamaPs: {
      constexpr int64_t kYear = 365 * 24 * 3600;  // it stays as long as the service does
      const ResidentModel own = {
          .card = &card_,
          .bytes = needed_bytes(engine_->compiled()) + engine_->codec_bytes(),
          .is_gpu = engine_->device().backend != BackendKind::kCpu,
          .expires = options_.unix_seconds() + kYear};
      return ollama_ps(std::span(&own, 1));
    }
    case Action::kOllamaShow: {
      TOK_TRY(const Fields fields, read_fields(request.body, route.endpoint));
      TOK_TRY(check_model(fields));
      return ollama_show(card_);
    }
    case Action::kOllamaVersion:
      return Json(Json::Object{{"version", TOKAMAK_VERSION}});
  }
  return Refusal(ApiError{.status = 500, .message = "The request has no answer."});
}

}  // namespace tokamak::openai
