// ModelPool: the models of a server, of which some are in memory, each with an engine and a thread
// of its own. It finds the model of a request, loads it where it must, and lets others leave for
// it. Residency decides who; here is when: a model that is to leave takes no new requests, leaves
// when those in flight have ended, and comes back when its turn is.
//
// On the thread of the server. Loading and unloading happen one after the other on one more thread,
// so that the memory of those that leave is free before the next one asks for it.
#pragma once
#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <set>

#include "base/background_task.h"
#include "protocol/requests/requested_model.h"
#include "serve/admission.h"
#include "serve/http/server.h"
#include "serve/residency.h"
#include "serve/service_loop.h"
#include "serve/worker.h"

namespace tokamak::serve {

/// A model that a server offers.
struct PoolModel {
  protocol::ModelNames names;  // the first is its id
  std::string path;            // where its files are, of which clients are not told
  bool is_pinned = false;
  protocol::ModelCard card;  // as far as its files tell
  uint64_t least_bytes = 0;  // of the device's memory that it needs; 0: not known
};

/// A model in memory.
struct LoadedModel {
  std::unique_ptr<ServiceLoop> loop;
  uint64_t bytes = 0;  // that it takes
  std::string device;
  bool is_gpu = false;
};

struct PoolOptions {
  ResidencyLimits limits;
  double keep_seconds = std::numeric_limits<double>::infinity();  // where a request says nothing
  uint32_t sequences = 1;                                         // that a model runs at once
  uint32_t max_queue = 512;  // requests of a model that wait for one of those to end
  /// Opens a model that is to take `room` bytes at most (0: as many as there are), on a thread of
  /// its own; gives up soon after `cancelled`.
  std::function<Result<std::unique_ptr<Engine>>(size_t model, uint64_t room,
                                                const std::atomic<bool>& cancelled)>
      open;
  Trace* trace = nullptr;                      // of what engines do; outlives the pool
  std::function<void(std::string_view)> note;  // for the owner of the server; any thread
  protocol::SpeechOptions speech;              // of all models that speak
  std::function<int64_t()> unix_seconds;
  /// A source of random numbers for one thread, another one each time.
  std::function<std::function<uint64_t()>()> random;
};

class ModelPool {
 public:
  using Deliver = std::function<void(std::vector<Part>)>;

  /// `server` outlives it. `deliver` is called on the server's thread. REQUIRES: models.
  ModelPool(Server& server, std::vector<PoolModel> models, PoolOptions options, Deliver deliver);
  ModelPool(const ModelPool&) = delete;
  ModelPool& operator=(const ModelPool&) = delete;
  /// Ends what runs. REQUIRES: the server has stopped, or has never called.
  ~ModelPool();

  /// Puts a model in its place that was opened before the server calls. Errors: those of
  /// ServiceLoop::make.
  Result<void> add(size_t model, std::unique_ptr<Engine> engine);
  /// Bytes of the device's memory that are left for one more; 0: not known.
  uint64_t room() const;

  /// Does what can be done now: begins requests that wait, loads and unloads.
  void advance();
  void begin(CallId id, protocol::HttpRequest request);
  void cancel(CallId id);
  void hold(CallId id, bool is_held);
  /// Requests in flight are answered with an error; nothing is loaded any more.
  void cancel_all();

  /// Seconds after which a model will have room in its queue, where now none has.
  std::optional<uint32_t> wait_seconds() const;
  /// The message for who must wait so long.
  std::string full_text(uint32_t seconds) const;
  /// The id of the model of a request in flight; "" where there is none.
  std::string_view model_of(CallId id) const;
  std::vector<ModelSample> samples() const;

 private:
  struct Waiting {
    CallId id = {};
    protocol::HttpRequest request;
  };
  struct Model : PoolModel {
    std::optional<LoadedModel> loaded;
    bool is_kept = false;  // pinned by a request
    bool is_loading = false;
    bool is_leaving = false;  // it makes room as soon as it is idle
    bool must_evict = false;  // it did not fit beside what was there
    std::deque<Waiting> waiting;
    uint32_t calls = 0;  // that its engine answers
    uint64_t loads = 0;
    int64_t changed = 0;  // when it was loaded or unloaded last, by Unix' clock
    double last_use = 0, keep_seconds = 0;
    SchedulerStats gone;  // what engines counted that are gone
    ModelMetrics metrics;
    Admission admission{1, 0};
  };
  struct Call {
    size_t model = 0;
    double started = 0;
    std::shared_ptr<Admission::Place> place;  // of requests that count
  };

  static double now() { return steady_clock()(); }

  // model_pool.cpp: requests on their way.
  Result<LoadedModel> make_loaded(size_t model, std::unique_ptr<Engine> engine);
  void take(std::vector<Part> parts);
  void end_call(CallId id);
  /// Goes on once it is known which model it is for.
  void begin_read(CallId id, protocol::HttpRequest request,
                  const protocol::Answer<protocol::RequestedModel>& asked);
  void start(Model& model, Waiting waiting);
  /// Answers those that wait for a model.
  void refuse_waiting(Model& model, protocol::ApiError error);
  void refuse(CallId id, std::string_view path, const protocol::ApiError& error);
  void reply(CallId id, Reply reply);
  void begin_waiting(Model& model);

  // pool_changes.cpp: models come and go.
  std::vector<ResidencyFacts> facts() const;
  /// The next model to be loaded, for which others must leave; nothing where all is done.
  struct Change {
    std::optional<size_t> model;
    std::vector<size_t> leaving;
  };
  std::optional<Change> next_change();
  void make_change(const Change& change);
  void finish_load(size_t model, Result<LoadedModel> loaded);
  LoadedModel take_out(size_t model);
  void set_alarm();

  // pool_answers.cpp: what needs no engine.
  std::optional<Reply> own_answer(const protocol::HttpRequest& request,
                                  const protocol::RequestedModel& asked);
  std::optional<Reply> unload_answer(const protocol::HttpRequest& request,
                                     const protocol::RequestedModel& asked);
  std::vector<protocol::ModelCard> cards() const;
  Json residents() const;
  double expiry_of(const Model& model) const;
  size_t preferred_model(const protocol::RequestedModel& asked) const;

  Server& server_;
  const PoolOptions options_;
  const Deliver deliver_;
  std::deque<Model> models_;  // whose metrics stay where they are
  std::vector<protocol::ModelNames> names_;
  std::map<CallId, Call> calls_;
  std::set<CallId> unread_;     // those whose model the reader looks for
  std::deque<size_t> to_load_;  // in the order in which they were asked for
  bool is_changing_ = false;    // the other thread loads or unloads
  double alarm_ = std::numeric_limits<double>::infinity();
  std::atomic<bool> is_ending_ = false;
  // The last: their threads use the others.
  std::unique_ptr<BackgroundTask> change_;
  std::optional<Worker> reader_;  // of large bodies
};

}  // namespace tokamak::serve
