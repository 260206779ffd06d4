// The protocols of OpenAI, Anthropic and Ollama for one engine: requests in, texts out. No sockets,
// no threads, no clock.
//
//   auto service = protocol::Service::make(engine, {.model = "storyteller", ...});
//   (*service)->begin({"POST", "/v1/chat/completions", body}, sink);
//   (*engine.scheduler())->run();
//
// An error of a request is an answer in the dialect of its path, never one of begin().
// docs/openai.md has the endpoints and fields.
#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <variant>

#include "engine/engine.h"
#include "protocol/grammars/answer_grammar.h"
#include "protocol/jobs/speech_job.h"
#include "protocol/requests/decoded.h"
#include "protocol/requests/kept_items.h"
#include "protocol/requests/requested_model.h"
#include "protocol/service/exchange.h"
#include "protocol/service/model_card.h"
#include "protocol/service/text_body_reader.h"

namespace tokamak::protocol {

struct ServiceOptions {
  std::string model;                 // its id, for clients
  std::vector<std::string> aliases;  // other names that requests may have for it
  SpeechOptions speech;
  int64_t created = 0;                    // of the model, in unix seconds
  std::function<int64_t()> unix_seconds;  // now
  std::function<uint64_t()> random;       // 64 random bits: ids and seeds are made of them
};

enum class ExchangeId : uint64_t {};

struct PreparedText {
  const Route* route = nullptr;
  std::string adapter;  // that it asks for; "" the model as it is
  TextJob job;
  Json call_shapes;                   // of the request's Fields
  bool has_opaque_reasoning = false;  // asked for
  std::optional<std::string> keeper;  // the tenant for whom items are kept
};

/// A request as far as it is read without the device. Nothing refers to its body any more.
struct PreparedRequest {
  /// JSON: the whole answer.
  using Work = std::variant<Json, PreparedText, std::unique_ptr<Job>>;

  Dialect dialect = Dialect::kOpenAi;
  Answer<Work> work = Json();

  bool is_answered() const { return !work || std::holds_alternative<Json>(*work); }
};

/// For one thread, which also runs the engine's scheduler: who calls begin() calls
/// Scheduler::step() until it has nothing left to do, and run_job() while it has_jobs().
class Service {
 public:
  /// The engine outlives it. Errors: an option that is missing, those of open_speech().
  static Result<std::unique_ptr<Service>> make(Engine& engine, ServiceOptions options);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  /// Cancels what is on its way.
  ~Service();

  /// Reads JSON, renders templates, makes tokens, compiles grammars and decodes files: all that
  /// takes long where a body is large. Any thread may call it, each with grammars of its own.
  PreparedRequest prepare(HttpRequest request, AnswerGrammars& grammars);
  /// Any thread may call it. REQUIRES: prepared.is_answered().
  static void give(const PreparedRequest& prepared, const Sink& sink);
  ExchangeId begin_prepared(PreparedRequest prepared, Sink sink);
  ExchangeId begin(HttpRequest request, Sink sink) {
    return begin_prepared(prepare(std::move(request), grammars_), std::move(sink));
  }
  /// The client is gone: its sink is not called again, its tokens are not computed. Does nothing
  /// where the exchange has ended.
  void cancel(ExchangeId id);
  /// Answers all that runs with an error.
  void cancel_all();
  /// The client does not keep up: no more is computed for it until it does (Scheduler::hold), but
  /// for the rest of a sentence of speech whose end others wait for.
  void hold(ExchangeId id, bool is_held);
  /// Whether there is a job that is not held.
  bool has_jobs() const { return next_job() != jobs_.end(); }
  /// Does a step of a job; they take turns where they may pause. REQUIRES: has_jobs().
  void run_job();
  /// Jobs that have begun, and those that wait for their first step.
  size_t begun_jobs() const { return size_t(std::ranges::count(jobs_, true, &OwnJob::has_begun)); }
  size_t waiting_jobs() const { return jobs_.size() - begun_jobs(); }
  /// Exchanges on their way.
  size_t running();
  /// The note for the owner on the model's chat template; empty where there is nothing.
  const std::string& notice() const { return chat_.notice; }
  const ModelCard& card() const { return card_; }

 private:
  struct Running {
    std::shared_ptr<TextExchange> exchange;
    std::vector<RequestId> requests;
  };

  struct OwnJob {
    ExchangeId id;
    std::unique_ptr<Job> job;
    bool is_held = false, has_begun = false;
  };

  Service(Engine& engine, ServiceOptions options);

  Answer<PreparedRequest::Work> prepare_work(HttpRequest& request, const Route& route,
                                             AnswerGrammars& grammars);
  Answer<PreparedRequest::Work> prepare_text(HttpRequest& request, const Route& route,
                                             AnswerGrammars& grammars);
  Answer<std::unique_ptr<Job>> prepare_job(HttpRequest& request, const Route& route);
  Answer<Json> plain_answer(const HttpRequest& request, const Route& route);
  Answer<Running> start_text(ExchangeId id, PreparedText prepared, const Sink& sink);
  std::deque<OwnJob>::const_iterator next_job() const;
  Answer<void> check_model(const Fields& fields) const;
  Answer<void> check_model(std::string_view asked) const;
  void forget_ended();

  Engine* engine_;
  ServiceOptions options_;
  ModelNames names_;
  std::string fingerprint_;
  ChatForm chat_;
  ModelCard card_;
  AnswerGrammars grammars_;
  ByteBudget decoded_{kDecodedBytes};
  KeptItems kept_{32u << 20};
  Result<Scheduler*> scheduler_;
  bool is_gpu_;
  uint64_t next_id_ = 1;
  std::map<ExchangeId, Running> running_;
  std::deque<OwnJob> jobs_;  // the first is the next, as far as it may be
};

}  // namespace tokamak::protocol
