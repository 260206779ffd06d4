#include "serve/service_loop.h"

#include <algorithm>

#include "base/guarded.h"

namespace tokamak::serve {
namespace {

/// REQUIRES: the part has a head and outlives the sink.
protocol::Sink sink_into(Part& part) {
  return {.begin =
              [&part](int status, std::string_view type) {
                part.head->status = status;
                part.head->content_type = type;
              },
          .write = [&part](std::string_view bytes) { part.bytes += bytes; },
          .end = [&part] { part.ends = true; },
          .header =
              [&part](std::string_view name, std::string_view value) {
                part.head->fields.push_back({std::string(name), std::string(value)});
              }};
}

}  // namespace

Result<std::unique_ptr<ServiceLoop>> ServiceLoop::make(std::unique_ptr<Engine> engine,
                                                       protocol::ServiceOptions options,
                                                       ModelMetrics& metrics, Deliver deliver,
                                                       Trace* trace) {
  Scheduler* scheduler = nullptr;
  if (engine->compiled().gives_text()) {
    TOK_TRY(scheduler, engine->scheduler());
    SchedulerObserver observer = metrics.observer();
    if (trace != nullptr) observer = trace->observer(options.model, std::move(observer));
    scheduler->observe(std::move(observer));
  }
  const Plan& plan = engine->compiled().main.plan;
  metrics.count_links(phase_cost(plan, plan.phases.front(), 1, 1).link_bytes);
  std::vector<DeviceMemoryUse> devices = engine->backend().memory_use();
  TOK_TRY(auto service, protocol::Service::make(*engine, std::move(options)));
  const std::string notice = service->notice();
  const protocol::ModelCard card = service->card();
  auto own = std::unique_ptr<ServiceLoop>(
      new ServiceLoop(std::move(service), scheduler, metrics, trace, std::move(deliver)));
  own->notice_ = notice;
  own->card_ = card;
  own->devices_ = std::move(devices);
  own->loop_ = std::make_unique<EngineLoop>(
      std::move(engine), scheduler,
      EngineLoop::Options{.turned = [loop = own.get()] { loop->end_turn(); }});
  own->short_.worker.emplace();
  own->long_.worker.emplace();
  return own;
}

ServiceLoop::ServiceLoop(std::unique_ptr<protocol::Service> service, Scheduler* scheduler,
                         ModelMetrics& metrics, Trace* trace, Deliver deliver)
    : service_(std::move(service)),
      scheduler_(scheduler),
      metrics_(&metrics),
      trace_(trace),
      deliver_(std::move(deliver)) {}

ServiceLoop::~ServiceLoop() {
  if (loop_ == nullptr) return;
  is_cancelled_ = true;
  short_.worker.reset();
  long_.worker.reset();
  loop_->post([this](Engine&) {
    for (const auto& [id, exchange] : running_) service_->cancel(exchange);
    running_.clear();
  });
  loop_->close();
  service_.reset();  // it refers to the engine
}

void ServiceLoop::begin(CallId id, protocol::HttpRequest request) {
  auto call = std::make_shared<Call>();
  {
    const std::scoped_lock lock(mutex_);
    calls_[id] = call;
  }
  request.admit = [call,
                   admit = std::move(request.admit)](uint32_t sequences) -> protocol::Answer<void> {
    if (admit) TOK_TRY(admit(sequences));
    call->sequences = sequences;
    return {};
  };
  // Jobs are copied where std::function is.
  auto unread = std::make_shared<protocol::HttpRequest>(std::move(request));
  Reader& reader = unread->body.size() <= kShortBody ? short_ : long_;
  reader.worker->post(
      [this, id, call, unread, &reader] { read(id, call, std::move(*unread), reader.grammars); });
}

void ServiceLoop::read(CallId id, const std::shared_ptr<Call>& call, protocol::HttpRequest request,
                       protocol::AnswerGrammars& grammars) {
  if (call->is_gone) return;
  const protocol::Dialect dialect = protocol::dialect_of(request.path);
  auto prepared = guarded([&]() -> Result<protocol::PreparedRequest> {
    return service_->prepare(std::move(request), grammars);
  });
  auto read = std::make_shared<protocol::PreparedRequest>();
  if (prepared) {
    *read = *std::move(prepared);
  } else {
    *read = {.dialect = dialect, .work = protocol::Refusal(protocol::api_error(prepared.error()))};
  }
  if (!read->is_answered()) {
    loop_->post([this, id, call, read](Engine&) {
      if (take_unread(id)) start(id, call, std::move(*read));
    });
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    if (calls_.erase(id) == 0) return;
  }
  Part part = {.id = id, .head = Reply()};
  protocol::Service::give(*read, sink_into(part));
  deliver_({std::move(part)});
}

bool ServiceLoop::take_unread(CallId id) {
  const std::scoped_lock lock(mutex_);
  const auto found = calls_.find(id);
  if (found == calls_.end()) return false;
  found->second->is_unread = false;
  taken_ += found->second->sequences;
  return true;
}

void ServiceLoop::forget(CallId id) {
  const std::scoped_lock lock(mutex_);
  calls_.erase(id);
}

void ServiceLoop::cancel(CallId id) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    const bool was_unread = found->second->is_unread;
    found->second->is_gone = true;
    if (was_unread) metrics_->cancelled();  // before it is no longer counted as waiting
    calls_.erase(found);
    if (was_unread) return;
  }
  loop_->post([this, id](Engine&) {
    const auto found = running_.find(id);
    if (found == running_.end()) return;
    service_->cancel(found->second);
    running_.erase(found);
    metrics_->cancelled();
  });
}

void ServiceLoop::hold(CallId id, bool is_held) {
  loop_->post([this, id, is_held](Engine&) {
    const auto found = running_.find(id);
    if (found != running_.end()) service_->hold(found->second, is_held);
    advance();
  });
}

void ServiceLoop::cancel_all() {
  is_cancelled_ = true;
  loop_->post([this](Engine&) { service_->cancel_all(); });
}

SchedulerStats ServiceLoop::stats() const {
  const std::scoped_lock lock(mutex_);
  SchedulerStats stats = stats_;
  stats.waiting += taken_;
  for (const auto& [id, call] : calls_) {
    if (call->is_unread) stats.waiting += call->sequences;
  }
  return stats;
}

Part& ServiceLoop::part_of(CallId id) {
  const auto found = std::ranges::find(parts_, id, &Part::id);
  if (found != parts_.end()) return *found;
  parts_.push_back({.id = id});
  return parts_.back();
}

Reply& ServiceLoop::head_of(CallId id) {
  auto& head = part_of(id).head;
  return head ? *head : head.emplace();
}

void ServiceLoop::start(CallId id, const std::shared_ptr<Call>& call,
                        protocol::PreparedRequest request) {
  protocol::Sink sink;
  // The engine may end the request of a client that has gone before the cancel that was posted
  // does: nothing of that is for anybody.
  sink.header = [this, id, call](std::string_view name, std::string_view value) {
    if (!call->is_gone) head_of(id).fields.push_back({std::string(name), std::string(value)});
  };
  sink.begin = [this, id, call](int status, std::string_view type) {
    if (call->is_gone) return;
    head_of(id).status = status;
    head_of(id).content_type = type;
  };
  sink.write = [this, id, call](std::string_view bytes) {
    if (!call->is_gone) part_of(id).bytes += bytes;
  };
  sink.end = [this, id, call] {
    if (!call->is_gone) part_of(id).ends = true;
    forget(id);
    if (running_.erase(id) == 0) return;
    if (call->is_gone) {
      metrics_->cancelled();
    } else {
      metrics_->succeeded();
    }
  };
  sink.is_cancelled = [this, call] { return call->is_gone || is_cancelled_; };
  const auto exchange = service_->begin_prepared(std::move(request), std::move(sink));
  const auto part = std::ranges::find(parts_, id, &Part::id);
  if (part == parts_.end() || !part->ends) running_[id] = exchange;
  // It was being read when all were cancelled.
  if (is_cancelled_) service_->cancel_all();
  advance();
}

void ServiceLoop::run_job() {
  is_job_next_ = false;
  if (service_->has_jobs()) service_->run_job();
  advance();
}

void ServiceLoop::advance() {
  if (is_job_next_ || !service_->has_jobs()) return;
  is_job_next_ = loop_->post([this](Engine&) { run_job(); });
}

void ServiceLoop::end_turn() {
  if (service_ == nullptr) return;  // the loop has a last turn when it goes
  {
    const std::scoped_lock lock(mutex_);
    stats_ = scheduler_ != nullptr ? scheduler_->stats() : SchedulerStats();
    stats_.running += uint32_t(service_->begun_jobs());
    stats_.waiting += uint32_t(service_->waiting_jobs());
    taken_ = 0;
  }
  if (trace_ != nullptr) {
    const SchedulerStats now = stats();
    trace_->count(card_.id, now.running, now.waiting);
  }
  if (!parts_.empty()) deliver_(std::exchange(parts_, {}));
}

}  // namespace tokamak::serve
