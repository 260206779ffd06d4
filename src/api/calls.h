// Calls: the protocols of `tokamak serve` for a model, without a server.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "api/mailbox.h"
#include "engine/requests/engine_loop.h"
#include "protocol/service/service.h"
#include "tokamak/call.h"

namespace tokamak {

/// The state that a Call and the thread that runs its request share.
struct CallState : Mailbox {
  /// Begins, continues and ends the answer, as protocol::Sink has it: by one thread.
  void begin(int status, std::string_view content_type);
  void write(std::string_view bytes);
  void end();

  // The part that the call may take, under the mutex.
  std::deque<AnswerPart> parts;
  bool has_ended = false;

 private:
  enum class Framing : uint8_t { kWhole, kEvents, kLines, kBytes };

  void give(std::string bytes);

  Framing framing_ = Framing::kWhole;
  int status_ = 0;
  std::string content_type_;
  std::string open_;  // what no part has yet
};

class Calls {
 public:
  /// `model`: its id, for clients. Errors: those of Service::make, a closed loop. The loop outlives
  /// it.
  Result<std::shared_ptr<CallState>> begin(const std::shared_ptr<StreamLoop>& loop,
                                           const std::string& model, std::string_view path,
                                           std::string_view body);
  /// Ends what has not ended. REQUIRES: the loop has closed.
  void close();

 private:
  Result<void> make_service(EngineLoop& loop, const std::string& model);
  void start(EngineLoop& loop, const std::shared_ptr<CallState>& call,
             protocol::PreparedRequest request);
  /// Runs a step of a job in the next turn, where there are jobs.
  void resume(EngineLoop& loop);

  std::mutex making_;
  std::unique_ptr<protocol::Service> service_;  // made by the first call
  std::mutex reading_;
  protocol::AnswerGrammars grammars_;  // under it
  // On the thread that runs the engine.
  uint64_t random_ = 0;
  bool is_job_next_ = false;
};

}  // namespace tokamak
