// ServiceLoop: the engine and what answers by it, on a thread of their own. Requests are read by
// two more, so that a large body keeps nobody from his tokens, and no short one waits for it.
#pragma once
#include <atomic>
#include <map>
#include <mutex>

#include "engine/requests/engine_loop.h"
#include "protocol/service/service.h"
#include "serve/http/message.h"
#include "serve/metrics.h"
#include "serve/trace.h"
#include "serve/worker.h"

namespace tokamak::serve {

/// The output of one engine iteration for a call.
struct Part {
  CallId id = {};
  std::optional<Reply> head;  // the answer begins
  std::string bytes;
  bool ends = false;
};

/// Bodies up to this many bytes wait for no longer ones, and are looked through by the server's
/// thread.
inline constexpr size_t kShortBody = size_t{64} << 10;

class ServiceLoop {
 public:
  /// Called once a turn, on the engine's thread, and by the readers' with what needs no turn.
  using Deliver = std::function<void(std::vector<Part>)>;

  /// `metrics` and `trace` outlive it; the latter is null where there is none. Errors: those of
  /// Service::make, a scheduler that does not fit the model.
  static Result<std::unique_ptr<ServiceLoop>> make(std::unique_ptr<Engine> engine,
                                                   protocol::ServiceOptions options,
                                                   ModelMetrics& metrics, Deliver deliver,
                                                   Trace* trace = nullptr);
  ServiceLoop(const ServiceLoop&) = delete;
  ServiceLoop& operator=(const ServiceLoop&) = delete;
  /// Ends what runs.
  ~ServiceLoop();

  // Any thread may call these.
  /// What the owner should know of the model's chat template; empty where there is nothing.
  const std::string& notice() const { return notice_; }
  const protocol::ModelCard& card() const { return card_; }
  void begin(CallId id, protocol::HttpRequest request);
  /// Nothing more is delivered of it than a turn in flight may bring, which ends a job's step soon.
  void cancel(CallId id);
  /// The client does not keep up: no more is computed for it until it does.
  void hold(CallId id, bool is_held);
  /// Calls that run are answered with an error.
  void cancel_all();
  /// The scheduler's figures at the end of the last turn; later submissions wait.
  SchedulerStats stats() const;
  /// The memory that the model takes of each device.
  const std::vector<DeviceMemoryUse>& devices() const { return devices_; }

 private:
  /// A call from its begin() to its end.
  struct Call {
    bool is_unread = true;  // under the mutex
    std::atomic<uint32_t> sequences = 1;
    std::atomic<bool> is_gone = false;
  };

  ServiceLoop(std::unique_ptr<protocol::Service> service, Scheduler* scheduler,
              ModelMetrics& metrics, Trace* trace, Deliver deliver);

  /// Reads requests, one after the other, and hands them to the engine's thread.
  struct Reader {
    protocol::AnswerGrammars grammars;
    std::optional<Worker> worker;
  };

  void read(CallId id, const std::shared_ptr<Call>& call, protocol::HttpRequest request,
            protocol::AnswerGrammars& grammars);
  /// Whether it has not been cancelled meanwhile; from now on it is read.
  bool take_unread(CallId id);
  void forget(CallId id);
  void start(CallId id, const std::shared_ptr<Call>& call, protocol::PreparedRequest request);
  /// A job has a turn for each step, so that what it wrote is delivered and others come in between.
  void run_job();
  /// Calls run_job() in the next turn, where there are jobs.
  void advance();
  Part& part_of(CallId id);
  Reply& head_of(CallId id);
  void end_turn();

  // On the engine's thread.
  std::unique_ptr<protocol::Service> service_;  // the readers', too
  Scheduler* scheduler_;
  std::map<CallId, protocol::ExchangeId> running_;
  std::vector<Part> parts_;
  bool is_job_next_ = false;  // run_job() comes in the next turn
  ModelMetrics* metrics_;
  Trace* trace_;
  Deliver deliver_;

  std::string notice_;
  protocol::ModelCard card_;
  std::vector<DeviceMemoryUse> devices_;
  mutable std::mutex mutex_;
  SchedulerStats stats_;
  std::map<CallId, std::shared_ptr<Call>> calls_;
  uint32_t taken_ = 0;  // sequences that this turn took and stats_ does not count yet
  std::atomic<bool> is_cancelled_ = false;  // all that runs
  std::unique_ptr<EngineLoop> loop_;        // its thread uses those above
  Reader short_, long_;                     // of bodies
};

}  // namespace tokamak::serve
