#include "openai/service.h"

#include <array>

#include "base/hash.h"
#include "openai/plain_answers.h"

namespace tokamak::openai {
namespace {

struct Route {
  std::string_view path, method;
};

// All of them with and without /v1 in front.
constexpr Route kRoutes[] = {
    {"/chat/completions", "POST"}, {"/completions", "POST"},
    {"/embeddings", "POST"},       {"/models", "GET"},
    {"/tokenize", "POST"},         {"/detokenize", "POST"},
    {"/apply-template", "POST"},   {"/health", "GET"},
};
constexpr std::string_view kOneModel = "/models/";

std::string_view without_version(std::string_view path) {
  path = path.substr(0, path.find('?'));
  return path.starts_with("/v1/") ? path.substr(3) : path;
}

Answer<void> check_route(const HttpRequest& request, std::string_view path) {
  std::string_view method;
  for (const Route& route : kRoutes) {
    if (route.path == path) method = route.method;
  }
  if (path.starts_with(kOneModel)) method = "GET";
  if (method.empty()) {
    return Refusal(ApiError{
        .status = 404, .message = fmt::format("There is nothing at {}.", quoted(request.path))});
  }
  if (method == request.method) return {};
  return Refusal(ApiError{.status = 405,
                          .message = fmt::format("{} takes {}, not {}.", quoted(request.path),
                                                 method, quoted(request.method)),
                          .allow = std::string(method)});
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// "%2F" is '/': ids of models have some.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                           hex_digit(text[i + 2]) >= 0;
    out += is_escape ? char(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    if (is_escape) i += 2;
  }
  return out;
}

ApiError unknown_model(std::string_view asked, std::string_view known) {
  return {.status = 404,
          .message = fmt::format("There is no model {}, but {}.", quoted(asked), quoted(known)),
          .param = "model",
          .code = "model_not_found"};
}

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

ToolFormat tool_format_of_model(const ModelFiles& files) {
  for (const char* name : {"tool_use", "default"}) {
    if (const auto text = chat_template_named(files, name)) return tool_format_of(*text);
  }
  return ToolFormat::kNone;
}

}  // namespace

Result<std::unique_ptr<Service>> Service::make(Engine& engine, ServiceOptions options) {
  if (options.model.empty() || !options.unix_seconds || !options.random) {
    return fail(ErrorCode::kUsage, "A service needs the model's id, a clock and random numbers.");
  }
  return std::unique_ptr<Service>(new Service(engine, std::move(options)));
}

Service::Service(Engine& engine, ServiceOptions options)
    : engine_(&engine),
      options_(std::move(options)),
      fingerprint_(fingerprint_of(engine)),
      tools_(tool_format_of_model(engine.files())) {}

Service::~Service() {
  while (!running_.empty()) cancel(running_.begin()->first);
}

ExchangeId Service::begin(const HttpRequest& request, Sink sink) {
  forget_ended();
  const auto id = ExchangeId(next_id_++);
  const std::string_view path = without_version(request.path);
  const auto refuse = [&](const ApiError& error) {
    if (!error.allow.empty() && sink.header) sink.header("Allow", error.allow);
    sink.whole(error.status, error.body().dump());
    return id;
  };
  if (const auto known = check_route(request, path); !known) return refuse(known.error());
  if (path == "/chat/completions" || path == "/completions") {
    const Endpoint endpoint = path == "/completions" ? kCompletions : kChat;
    auto started = start_text(request, endpoint, sink);
    if (!started) return refuse(started.error());
    running_.emplace(id, *std::move(started));
    return id;
  }
  const auto answer = plain_answer(request, path);
  if (!answer) return refuse(answer.error());
  sink.whole(200, answer->dump());
  return id;
}

void Service::cancel(ExchangeId id) {
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  found->second.exchange->abandon();
  if (const auto scheduler = engine_->scheduler()) {
    for (const RequestId request : found->second.requests) (*scheduler)->cancel(request);
  }
  running_.erase(found);
}

size_t Service::running() {
  forget_ended();
  return running_.size();
}

void Service::forget_ended() {
  std::erase_if(running_, [](const auto& one) { return one.second.exchange->is_over(); });
}

Answer<void> Service::check_model(const Fields& fields) const {
  if (!fields.model || *fields.model == options_.model) return {};
  return Refusal(unknown_model(*fields.model, options_.model));
}

Answer<Service::Running> Service::start_text(const HttpRequest& request, Endpoint endpoint,
                                             const Sink& sink) {
  TOK_TRY(const Fields fields, read_fields(request.body, endpoint));
  TOK_TRY(check_model(fields));
  TOK_TRY(Scheduler * scheduler, answer(engine_->scheduler(), "model"));
  TOK_TRY(const Tokenizer* tokenizer, answer(engine_->tokenizer(), "model"));
  TOK_TRY(TextJob job, read_text_job(*engine_, fields, endpoint));
  for (Request& prompt : job.prompts) {
    // The length keeps apart what the two say together.
    prompt.tenant = fmt::format("{}:{}{}", request.tenant.size(), request.tenant,
                                fields.cache_salt.value_or(""));
    TOK_TRY(answer(scheduler->check(prompt), job.is_chat ? "messages" : "prompt"));
  }
  AnswerHead head = {.is_chat = job.is_chat,
                     .id = random_id(job.is_chat ? "chatcmpl-" : "cmpl-", options_.random),
                     .created = options_.unix_seconds(),
                     .model = options_.model,
                     .fingerprint = fingerprint_};
  Running running;
  running.exchange = std::make_shared<TextExchange>(*tokenizer, std::move(head), std::move(job),
                                                    tools_, options_.random, sink);
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

Json Service::model_json() const {
  return Json(Json::Object{{"id", options_.model},
                           {"object", "model"},
                           {"created", options_.created},
                           {"owned_by", "tokamak"},
                           {"max_model_len", engine_->compiled().context}});
}

Answer<Json> Service::plain_answer(const HttpRequest& request, std::string_view path) {
  if (path == "/tokenize") return tokenize(*engine_, request.body);
  if (path == "/detokenize") return detokenize(*engine_, request.body);
  if (path == "/apply-template") return apply_template(*engine_, request.body);
  if (path == "/health") return Json(Json::Object{{"status", "ok"}});
  if (path == "/models") {
    return Json(Json::Object{{"object", "list"}, {"data", Json::Array{model_json()}}});
  }
  if (path == "/embeddings") {
    TOK_TRY(const Fields fields, read_fields(request.body, kEmbeddings));
    TOK_TRY(check_model(fields));
    return embeddings(*engine_, fields, options_.model);
  }
  const std::string asked = percent_decoded(path.substr(kOneModel.size()));
  if (asked != options_.model) return Refusal(unknown_model(asked, options_.model));
  return model_json();
}

}  // namespace tokamak::openai
