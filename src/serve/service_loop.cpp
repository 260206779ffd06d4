#include "serve/service_loop.h"

#include <algorithm>

namespace tokamak::serve {

Result<std::unique_ptr<ServiceLoop>> ServiceLoop::make(std::unique_ptr<Engine> engine,
                                                       openai::ServiceOptions options,
                                                       ModelMetrics& metrics, Deliver deliver,
                                                       Trace* trace) {
  Scheduler* scheduler = nullptr;
  if (engine->compiled().gives_text()) {
    TOK_TRY(scheduler, engine->scheduler());
    SchedulerObserver observer = metrics.observer();
    if (trace != nullptr) observer = trace->observer(options.model, std::move(observer));
    scheduler->observe(std::move(observer));
  }
  TOK_TRY(auto service, openai::Service::make(*engine, std::move(options)));
  const std::string notice = service->notice();
  const openai::ModelCard card = service->card();
  auto own = std::unique_ptr<ServiceLoop>(
      new ServiceLoop(std::move(service), scheduler, metrics, trace, std::move(deliver)));
  own->notice_ = notice;
  own->card_ = card;
  own->loop_ = std::make_unique<EngineLoop>(
      std::move(engine), scheduler,
      EngineLoop::Options{.turned = [loop = own.get()] { loop->end_turn(); }});
  own->reader_.emplace();
  return own;
}

ServiceLoop::ServiceLoop(std::unique_ptr<openai::Service> service, Scheduler* scheduler,
                         ModelMetrics& metrics, Trace* trace, Deliver deliver)
    : service_(std::move(service)),
      scheduler_(scheduler),
      metrics_(&metrics),
      trace_(trace),
      deliver_(std::move(deliver)) {}

ServiceLoop::~ServiceLoop() {
  if (loop_ == nullptr) return;
  reader_.reset();
  loop_->post([this](Engine&) {
    for (const auto& [id, exchange] : running_) service_->cancel(exchange);
    running_.clear();
  });
  loop_->close();
  service_.reset();  // it refers to the engine
}

void ServiceLoop::begin(CallId id, openai::HttpRequest request) {
  {
    const std::scoped_lock lock(mutex_);
    unread_.insert(id);
  }
  // Jobs are copied where std::function is.
  auto unread = std::make_shared<openai::HttpRequest>(std::move(request));
  reader_->post([this, id, unread] {
    {
      const std::scoped_lock lock(mutex_);
      if (!unread_.contains(id)) return;
    }
    auto read = std::make_shared<openai::PreparedRequest>(service_->prepare(std::move(*unread)));
    loop_->post([this, id, read](Engine&) {
      if (take_unread(id)) start(id, std::move(*read));
    });
  });
}

bool ServiceLoop::take_unread(CallId id) {
  const std::scoped_lock lock(mutex_);
  if (unread_.erase(id) == 0) return false;
  ++taken_;
  return true;
}

void ServiceLoop::cancel(CallId id) {
  {
    const std::scoped_lock lock(mutex_);
    if (unread_.contains(id)) {
      metrics_->cancelled();  // before it is no longer counted as waiting
      unread_.erase(id);
      return;
    }
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
  });
}

void ServiceLoop::cancel_all() {
  loop_->post([this](Engine&) {
    is_cancelled_ = true;
    if (scheduler_ != nullptr) scheduler_->cancel_all();
  });
}

SchedulerStats ServiceLoop::stats() const {
  const std::scoped_lock lock(mutex_);
  SchedulerStats stats = stats_;
  stats.waiting += uint32_t(unread_.size()) + taken_;
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

void ServiceLoop::start(CallId id, openai::PreparedRequest request) {
  openai::Sink sink;
  sink.header = [this, id](std::string_view name, std::string_view value) {
    head_of(id).fields.push_back({std::string(name), std::string(value)});
  };
  sink.begin = [this, id](int status, std::string_view type) {
    head_of(id).status = status;
    head_of(id).content_type = type;
  };
  sink.write = [this, id](std::string_view bytes) { part_of(id).bytes += bytes; };
  sink.end = [this, id] {
    part_of(id).ends = true;
    if (running_.erase(id) > 0) metrics_->succeeded();
  };
  const auto exchange = service_->begin_prepared(std::move(request), sink);
  // It was being read when all were cancelled.
  if (is_cancelled_ && scheduler_ != nullptr) scheduler_->cancel_all();
  const auto part = std::ranges::find(parts_, id, &Part::id);
  if (part == parts_.end() || !part->ends) running_[id] = exchange;
  if (service_->has_speech() && !std::exchange(is_speaking_, true)) {
    loop_->post([this](Engine&) { speak(); });
  }
}

void ServiceLoop::speak() {
  if (service_->has_speech()) service_->speak();
  is_speaking_ = service_->has_speech() && loop_->post([this](Engine&) { speak(); });
}

void ServiceLoop::end_turn() {
  {
    const std::scoped_lock lock(mutex_);
    if (scheduler_ != nullptr) stats_ = scheduler_->stats();
    taken_ = 0;
  }
  if (trace_ != nullptr) {
    const SchedulerStats now = stats();
    trace_->count(card_.id, now.running, now.waiting);
  }
  if (!parts_.empty()) deliver_(std::exchange(parts_, {}));
}

}  // namespace tokamak::serve
