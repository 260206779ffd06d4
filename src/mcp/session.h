// A session of the Model Context Protocol: lines of JSON-RPC in and out, tools that a model
// answers. No pipes, no threads.
//
//   mcp::Session session(*service, {.version = "1.0"}, [](std::string_view line) { ... });
//   session.receive(line);
//   (*engine.scheduler())->run();
#pragma once
#include <map>
#include <memory>

#include "mcp/tools.h"
#include "protocol/service/service.h"

namespace tokamak::mcp {

struct SessionOptions {
  std::string version;      // the program's
  bool is_encoder = false;  // the model makes vectors, no texts
};

/// For one thread, which also runs the engine's scheduler, as a Service is.
class Session {
 public:
  /// Gets whole messages, without the end of a line.
  using Write = std::function<void(std::string_view)>;

  /// `service` outlives it.
  Session(protocol::Service& service, SessionOptions options, Write write);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Cancels what runs.
  ~Session();

  /// Takes a message, or a batch of them. Mistakes in a message are answered.
  void receive(std::string_view line);

 private:
  /// Messages that came in one array, whose answers go back in one.
  struct Batch {
    Json::Array answers;
    size_t running = 0;  // calls that have not ended
  };
  /// A call of a tool on its way.
  struct Call {
    Json id;
    std::shared_ptr<Batch> batch;  // null: it came alone
    const Tool* tool = nullptr;
    Json progress_token;  // null: nobody wants to know
    protocol::ExchangeId exchange = {};
    int status = 0;
    std::string received;  // that is not read yet: a part of an event, or of a whole body
    std::string text, finish_reason, error;
    Json usage;
    uint64_t pieces = 0;
  };

  void take_message(const Json& message);
  void take_batch(const Json::Array& messages);
  void leave(const std::shared_ptr<Batch>& batch);
  void request(const Json& id, std::string_view method, const Json& params);
  void notice(std::string_view method, const Json& params);
  void call(const Json& id, const Json& params);
  void cancel(const Json& params);

  void take(Call& call, std::string_view bytes);
  void take_event(Call& call, std::string_view event);
  void end(const std::string& key);
  Json result_of(const Call& call) const;

  Json greeting(const Json& params);
  void answer(const Json& id, Json result);
  void refuse(const Json& id, int code, std::string_view message);
  void respond(Json message);

  protocol::Service& service_;
  SessionOptions options_;
  Write write_;
  std::map<std::string, Call> calls_;  // by the text of their ids
  std::shared_ptr<Batch> batch_;       // of what is being answered; null: none
  bool takes_batches_ = true;          // until a version is agreed on that has none
};

}  // namespace tokamak::mcp
