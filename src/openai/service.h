// The protocols of OpenAI, Anthropic and Ollama for one engine: requests in, texts out. No sockets,
// no threads, no clock.
//
//   auto service = openai::Service::make(engine, {.model = "storyteller", ...});
//   (*service)->begin({"POST", "/v1/chat/completions", body}, sink);
//   (*engine.scheduler())->run();
//
// What is wrong with a request is an answer in the dialect of its path, never an error of begin().
// docs/openai.md says which endpoints and fields there are.
#pragma once
#include <deque>
#include <map>
#include <memory>

#include "engine/engine.h"
#include "openai/answer_grammar.h"
#include "openai/exchange.h"
#include "openai/model_card.h"
#include "openai/readers.h"
#include "openai/requested_model.h"
#include "openai/speech_job.h"

namespace tokamak::openai {

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
  TextBody body;
  std::string adapter;  // that it asks for; "" the model as it is
  TextJob job;          // unless the body only loads
};

/// A request as far as it is read without the device.
struct PreparedRequest {
  HttpRequest request;
  Answer<const Route*> route;
  std::optional<Answer<PreparedText>> text;  // of requests for text
  std::optional<Answer<Json>> answer;        // to those that need no device
};

/// For one thread, which also runs the engine's scheduler: who calls begin() calls
/// Scheduler::step() until it has nothing left to do, and speak() while it has_speech(). Embeddings
/// and transcripts are made within begin().
class Service {
 public:
  /// The engine outlives it. Errors: an option that is missing, those of open_speech().
  static Result<std::unique_ptr<Service>> make(Engine& engine, ServiceOptions options);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  /// Cancels what is on its way.
  ~Service();

  /// Reads JSON, renders templates, makes tokens and compiles grammars: all that takes long where a
  /// body is large. Another thread may call it while the engine runs, one request after the other.
  PreparedRequest prepare(HttpRequest request);
  ExchangeId begin_prepared(PreparedRequest prepared, Sink sink);
  ExchangeId begin(HttpRequest request, Sink sink) {
    return begin_prepared(prepare(std::move(request)), std::move(sink));
  }
  /// The client is gone: its sink is not called again, its tokens are not computed. Does nothing
  /// where the exchange has ended.
  void cancel(ExchangeId id);
  /// The client does not keep up: no more is computed for it until it does (Scheduler::hold).
  void hold(ExchangeId id, bool is_held);
  /// Whether there is something to say.
  bool has_speech() const { return !speeches_.empty(); }
  /// Says a second or two of the oldest request for speech. REQUIRES: has_speech().
  void speak();
  /// Exchanges on their way.
  size_t running();
  /// What the owner should know of the model's chat template; empty where there is nothing.
  const std::string& notice() const { return chat_.notice; }
  const ModelCard& card() const { return card_; }

 private:
  struct Running {
    std::shared_ptr<TextExchange> exchange;
    std::vector<RequestId> requests;
  };

  Service(Engine& engine, ServiceOptions options);

  struct Speech {
    ExchangeId id;
    std::unique_ptr<SpeechJob> job;
  };

  Answer<void> start_speech(ExchangeId id, const HttpRequest& request, const Sink& sink);
  Answer<PreparedText> prepare_text(const HttpRequest& request, const Route& route);
  /// Nothing where the request needs the device.
  std::optional<Answer<Json>> prepare_answer(const HttpRequest& request, const Route& route);
  Answer<Json> plain_answer(const HttpRequest& request, const Route& route);
  /// Null where the answer was there at once.
  Answer<std::optional<Running>> start_text(PreparedText prepared, const Route& route,
                                            const Sink& sink);
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
  uint64_t next_id_ = 1;
  std::map<ExchangeId, Running> running_;
  std::deque<Speech> speeches_;  // the first is on its way, the others wait for its end
};

}  // namespace tokamak::openai
