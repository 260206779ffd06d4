#include "protocol/service/service.h"

#include "base/hash.h"
#include "engine/memory.h"
#include "protocol/anthropic/writer.h"
#include "protocol/jobs/encoder_jobs.h"
#include "protocol/jobs/model_use.h"
#include "protocol/jobs/transcriptions.h"
#include "protocol/ollama/writers.h"
#include "protocol/openai/responses_reader.h"
#include "protocol/openai/writers.h"
#include "protocol/service/plain_answers.h"
#include "protocol/service/text_body_reader.h"

namespace tokamak::protocol {
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
      card_(model_card(engine.files(), engine.compiled(), chat_)),
      scheduler_(engine.scheduler()),
      is_gpu_(engine.device().backend != BackendKind::kCpu) {
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

PreparedRequest Service::prepare(HttpRequest request, AnswerGrammars& grammars) {
  PreparedRequest out = {.dialect = dialect_of(request.path)};
  const auto route = find_route(request);
  if (route) {
    out.work = prepare_work(request, **route, grammars);
  } else {
    out.work = Refusal(route.error());
  }
  return out;
}

void Service::give(const PreparedRequest& prepared, const Sink& sink) {
  if (prepared.work) return sink.whole(200, std::get<Json>(*prepared.work).dump());
  const ApiError& error = prepared.work.error();
  if (!error.allow.empty() && sink.header) sink.header("Allow", error.allow);
  if (error.retry_seconds > 0 && sink.header) {
    sink.header("Retry-After", std::to_string(error.retry_seconds));
  }
  sink.whole(error.status, error.body(prepared.dialect).dump());
}

ExchangeId Service::begin_prepared(PreparedRequest prepared, Sink sink) {
  forget_ended();
  const auto id = ExchangeId(next_id_++);
  if (prepared.is_answered()) {
    give(prepared, sink);
  } else if (auto* const job = std::get_if<std::unique_ptr<Job>>(&*prepared.work)) {
    (*job)->start(std::move(sink), prepared.dialect, options_.random());
    jobs_.push_back({.id = id, .job = std::move(*job)});
  } else {
    auto started = start_text(id, std::get<PreparedText>(*std::move(prepared.work)), sink);
    if (started) {
      running_.emplace(id, *std::move(started));
    } else {
      prepared.work = Refusal(started.error());
      give(prepared, sink);
    }
  }
  return id;
}

std::deque<Service::OwnJob>::const_iterator Service::next_job() const {
  const auto free = std::ranges::find(jobs_, false, &OwnJob::is_held);
  const auto bound =
      std::ranges::find_if(jobs_, [](const OwnJob& one) { return !one.job->may_pause(); });
  if (bound == jobs_.end()) return free;
  return !bound->is_held || free != jobs_.end() ? bound : jobs_.end();
}

void Service::run_job() {
  const auto found = jobs_.begin() + (next_job() - jobs_.cbegin());
  found->has_begun = true;
  if (!found->job->step()) {
    jobs_.erase(found);
  } else if (found->job->may_pause()) {
    std::rotate(found, found + 1, jobs_.end());
  }
}

void Service::cancel(ExchangeId id) {
  if (std::erase_if(jobs_, [id](const OwnJob& one) { return one.id == id; }) > 0) return;
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  found->second.exchange->abandon();
  for (const RequestId request : found->second.requests) (*scheduler_)->cancel(request);
  running_.erase(found);
}

void Service::cancel_all() {
  for (const OwnJob& one : std::exchange(jobs_, {})) one.job->fail(cancelled_by_server());
  if (scheduler_) (*scheduler_)->cancel_all();
}

void Service::hold(ExchangeId id, bool is_held) {
  const auto job = std::ranges::find(jobs_, id, &OwnJob::id);
  if (job != jobs_.end()) job->is_held = is_held;
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  for (const RequestId request : found->second.requests) (*scheduler_)->hold(request, is_held);
}

size_t Service::running() {
  forget_ended();
  return running_.size() + jobs_.size();
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

Answer<PreparedRequest::Work> Service::prepare_work(HttpRequest& request, const Route& route,
                                                    AnswerGrammars& grammars) {
  switch (route.action) {
    case Action::kText:
      return prepare_text(request, route, grammars);
    case Action::kEmbeddings:
    case Action::kEmbedSparse:
    case Action::kRerank:
    case Action::kSpeak:
    case Action::kTranscribe:
    case Action::kTranslate:
      return prepare_job(request, route);
    default:
      return plain_answer(request, route);
  }
}

Answer<PreparedRequest::Work> Service::prepare_text(HttpRequest& request, const Route& route,
                                                    AnswerGrammars& grammars) {
  const auto kept = [&](std::string_view id) { return kept_.find(request.tenant, id); };
  TOK_TRY(const TextBody body, read_text_body(request.body, route.endpoint, kept));
  request.drop_body();
  const Fields& fields = body.fields;
  TOK_TRY(check_model(fields));
  PreparedText out = {.route = &route, .adapter = asked_adapter(card_, fields.model.value_or(""))};
  TOK_TRY(const uint32_t number, answer(adapter_number(engine_->files(), out.adapter), "model"));
  if (body.only_loads) {
    return ollama_load_json(out.adapter.empty() ? options_.model : out.adapter,
                            options_.unix_seconds(), route.endpoint, "load");
  }
  TOK_TRY(check_use(*engine_, Task::kText));
  TOK_TRY(answer(engine_->tokenizer(), "model"));
  TOK_TRY(const Scheduler* const scheduler, answer(scheduler_, "model"));
  // The length keeps apart what the two say together.
  const std::string tenant =
      fmt::format("{}:{}{}", request.tenant.size(), request.tenant, fields.cache_salt.value_or(""));
  const TextReading with = {
      .engine = *engine_, .chat = chat_, .grammars = grammars, .decoded = decoded_};
  out.call_shapes = fields.call_shapes;
  out.has_opaque_reasoning = has_opaque_reasoning(fields);
  if (fields.store.value_or(true)) out.keeper = request.tenant;
  TOK_TRY(out.job, read_text_job(with, body, tenant, request.admit));
  for (Request& prompt : out.job.prompts) {
    prompt.adapter = number;
    prompt.client = fmt::format("client {}", request.tenant);
    // Ids of images are there when they are in their places.
    if (out.job.images.empty()) TOK_TRY(answer(scheduler->check(prompt), prompt_field(out.job)));
  }
  return out;
}

Answer<std::unique_ptr<Job>> Service::prepare_job(HttpRequest& request, const Route& route) {
  if (route.action == Action::kTranscribe || route.action == Action::kTranslate) {
    return make_transcription_job(*engine_, decoded_, request, route.action == Action::kTranslate,
                                  [this](std::string_view model) { return check_model(model); });
  }
  TOK_TRY(const Fields fields, read_fields(request.body, route.endpoint));
  request.drop_body();
  TOK_TRY(check_model(fields));
  if (route.action == Action::kSpeak) return make_speech_job(*engine_, options_.speech, fields);
  if (route.action == Action::kRerank) return make_ranking_job(*engine_, fields, options_.model);
  if (route.action == Action::kEmbedSparse) return make_sparse_job(*engine_, fields);
  return make_embedding_job(*engine_, fields, options_.model, route.endpoint);
}

Answer<Service::Running> Service::start_text(ExchangeId id, PreparedText prepared,
                                             const Sink& sink) {
  TextJob& job = prepared.job;
  AnswerHead head = {.id = {},
                     .created = options_.unix_seconds(),
                     .model = prepared.adapter.empty() ? options_.model : prepared.adapter,
                     .fingerprint = fingerprint_,
                     .random = options_.random};
  Scheduler* const scheduler = *scheduler_;
  const Tokenizer* const tokenizer = *engine_->tokenizer();
  TOK_TRY(finish_text_job(*engine_, job));
  for (const Request& prompt : job.prompts) head.prompt_tokens += prompt.prompt.size();
  head.counts_usage = job.counts_usage;
  head.has_logprobs = job.has_logprobs;
  head.call_shapes = std::move(prepared.call_shapes);
  head.has_opaque_reasoning = prepared.has_opaque_reasoning;
  head.tokenizer = tokenizer;
  if (prepared.keeper) {
    head.keep = [this, owner = *std::move(prepared.keeper)](const Json& item) {
      kept_.keep(owner, item);
    };
  }
  const Route& route = *prepared.route;
  const std::string_view field = prompt_field(job);
  Running running;
  running.exchange =
      std::make_shared<TextExchange>(*tokenizer, writer_for(route.endpoint, std::move(head)),
                                     route.dialect, std::move(job), options_.random, sink);
  for (size_t i = 0; i < running.exchange->size(); ++i) {
    Request request = running.exchange->request(i);
    request.group = uint64_t(id);
    const auto added = scheduler->add(std::move(request));
    if (!added) {
      running.exchange->abandon();
      return Refusal(api_error(added.error(), field));
    }
    running.requests.push_back(*added);
  }
  return running;
}

Answer<Json> Service::plain_answer(const HttpRequest& request, const Route& route) {
  switch (route.action) {
    case Action::kCountTokens: {
      TOK_TRY(const TextBody body, read_text_body(request.body, route.endpoint));
      TOK_TRY(check_model(body.fields));
      return count_tokens(*engine_, body.fields, chat_);
    }
    case Action::kTokenize:
      return tokenize(*engine_, request.body);
    case Action::kDetokenize:
      return detokenize(*engine_, request.body);
    case Action::kApplyTemplate:
      return apply_template(*engine_, request.body, chat_);
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
          .is_gpu = is_gpu_,
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
    case Action::kText:
    case Action::kEmbeddings:
    case Action::kEmbedSparse:
    case Action::kRerank:
    case Action::kSpeak:
    case Action::kTranscribe:
    case Action::kTranslate:
      break;
  }
  return Refusal(ApiError{.status = 500, .message = "The request has no answer."});
}

}  // namespace tokamak::protocol
