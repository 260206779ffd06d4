#include "serve/model_pool.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "engine/memory.h"
#include "protocol/requests/api_error.h"
#include "serve/error_reply.h"

namespace tokamak::serve {
namespace {

constexpr uint32_t kRetrySeconds = 30;  // after which it may be worth asking again

}  // namespace

ModelPool::ModelPool(Server& server, std::vector<PoolModel> models, PoolOptions options,
                     Deliver deliver)
    : server_(server), options_(std::move(options)), deliver_(std::move(deliver)) {
  TOK_CHECK(!models.empty());
  for (PoolModel& one : models) {
    names_.push_back(one.names);
    Model& own = models_.emplace_back();
    static_cast<PoolModel&>(own) = std::move(one);
    own.card.id = own.names.front();
    own.keep_seconds = options_.keep_seconds;
    own.admission = Admission(options_.sequences, options_.max_queue);
  }
}

ModelPool::~ModelPool() {
  is_ending_ = true;
  reader_.reset();
  change_.reset();
}

Result<LoadedModel> ModelPool::make_loaded(size_t model, std::unique_ptr<Engine> engine) {
  TOK_TRY(engine->warm_up([this](size_t, size_t) { return !is_ending_; }));
  Model& own = models_[model];
  LoadedModel loaded;
  loaded.bytes = needed_bytes(engine->compiled());
  loaded.device = engine->device().name;
  loaded.is_gpu = engine->device().backend != BackendKind::kCpu;
  protocol::ServiceOptions service = {.model = own.names.front(),
                                      .aliases = {own.names.begin() + 1, own.names.end()},
                                      .speech = options_.speech,
                                      .created = own.card.created,
                                      .unix_seconds = options_.unix_seconds,
                                      .random = options_.random()};
  const auto deliver = [this](std::vector<Part> parts) {
    // A job is copied where std::function is.
    auto shared = std::make_shared<std::vector<Part>>(std::move(parts));
    server_.post([this, shared] { take(std::move(*shared)); });
  };
  const Engine& opened = *engine;  // the loop's from here on, which lives as long
  TOK_TRY(loaded.loop, ServiceLoop::make(std::move(engine), std::move(service), own.metrics,
                                         deliver, options_.trace));
  loaded.bytes += opened.codec_bytes();
  if (!loaded.loop->notice().empty()) {
    options_.note(fmt::format("note: {}\n", loaded.loop->notice()));
  }
  return loaded;
}

Result<void> ModelPool::add(size_t model, std::unique_ptr<Engine> engine) {
  TOK_TRY(LoadedModel loaded, make_loaded(model, std::move(engine)));
  finish_load(model, std::move(loaded));
  return {};
}

void ModelPool::reply(CallId id, Reply reply) {
  std::vector<Part> parts(1);
  parts[0].id = id;
  parts[0].bytes = std::move(reply.body);
  parts[0].head = std::move(reply);
  parts[0].ends = true;
  deliver_(std::move(parts));
}

void ModelPool::refuse(CallId id, std::string_view path, const protocol::ApiError& error) {
  Reply out = {.status = error.status, .body = error.body(protocol::dialect_of(path)).dump()};
  if (!error.allow.empty()) out.fields.push_back({"Allow", error.allow});
  if (error.retry_seconds > 0) {
    out.fields.push_back({"Retry-After", std::to_string(error.retry_seconds)});
  }
  reply(id, std::move(out));
}

void ModelPool::begin(CallId id, protocol::HttpRequest request) {
  if (request.body.size() <= kShortBody) {
    const auto asked = protocol::requested_model(request, names_);
    return begin_read(id, std::move(request), asked);
  }
  if (!reader_) reader_.emplace();
  unread_.insert(id);
  // A job is copied where std::function is.
  auto unread = std::make_shared<protocol::HttpRequest>(std::move(request));
  reader_->post([this, id, unread] {
    const auto asked = protocol::requested_model(*unread, names_);
    server_.post([this, id, unread, asked] {
      if (unread_.erase(id) > 0) begin_read(id, std::move(*unread), asked);
    });
  });
}

void ModelPool::begin_read(CallId id, protocol::HttpRequest request,
                           const protocol::Answer<protocol::RequestedModel>& asked) {
  if (is_ending_) return refuse(id, request.path, protocol::cancelled_by_server());
  if (!asked) return refuse(id, request.path, asked.error());
  if (auto answer = own_answer(request, *asked)) return reply(id, *std::move(answer));
  const size_t index = preferred_model(*asked);
  Model& model = models_[index];
  std::shared_ptr<Admission::Place> place;
  if (request.method == "POST") {
    if (const auto seconds = model.admission.wait_seconds()) {
      const bool is_there = model.loaded && !model.is_leaving;
      return refuse(id, request.path,
                    {.status = is_there ? 429 : 503,
                     .message = full_text(*seconds),
                     .code = "queue_full",
                     .retry_seconds = *seconds});
    }
    place = model.admission.begin();
    request.admit = [of_key = std::move(request.admit),
                     place](uint32_t sequences) -> protocol::Answer<void> {
      if (of_key) TOK_TRY(of_key(sequences));
      return place->admit(sequences, "the server takes");
    };
    model.keep_seconds = asked->keep_seconds.value_or(options_.keep_seconds);
    if (asked->keep_seconds) model.is_kept = std::isinf(*asked->keep_seconds);
  }
  calls_[id] = {.model = index, .started = now(), .place = std::move(place)};
  if (model.loaded && !model.is_leaving) return start(model, {id, std::move(request)});
  model.waiting.push_back({id, std::move(request)});
  if (std::ranges::find(to_load_, index) == to_load_.end()) to_load_.push_back(index);
  advance();
}

void ModelPool::start(Model& model, Waiting waiting) {
  ++model.calls;
  model.last_use = now();
  model.loaded->loop->begin(waiting.id, std::move(waiting.request));
}

void ModelPool::take(std::vector<Part> parts) {
  std::vector<CallId> ended;
  for (const Part& part : parts) {
    if (part.ends) ended.push_back(part.id);
  }
  deliver_(std::move(parts));
  for (const CallId id : ended) end_call(id);
}

void ModelPool::end_call(CallId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;  // the client went before
  Model& model = models_[found->second.model];
  if (found->second.place) found->second.place->end(now() - found->second.started);
  calls_.erase(found);
  if (const auto waits = std::ranges::find(model.waiting, id, &Waiting::id);
      waits != model.waiting.end()) {
    model.waiting.erase(waits);
    model.metrics.cancelled();
  } else {
    --model.calls;
    model.last_use = now();
  }
  if (model.calls == 0) advance();
}

void ModelPool::cancel(CallId id) {
  unread_.erase(id);
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  Model& model = models_[found->second.model];
  if (model.loaded) model.loaded->loop->cancel(id);  // it may not have got there
  end_call(id);
}

void ModelPool::hold(CallId id, bool is_held) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  if (auto& loaded = models_[found->second.model].loaded) loaded->loop->hold(id, is_held);
}

void ModelPool::cancel_all() {
  is_ending_ = true;
  for (Model& model : models_) {
    refuse_waiting(model, protocol::cancelled_by_server());
    if (model.loaded) model.loaded->loop->cancel_all();
  }
}

void ModelPool::refuse_waiting(Model& model, protocol::ApiError error) {
  if (error.status == 503) error.retry_seconds = kRetrySeconds;
  for (const Waiting& one : std::exchange(model.waiting, {})) {
    const auto call = calls_.extract(one.id).mapped();
    if (call.place) call.place->end(now() - call.started);
    refuse(one.id, one.request.path, error);
  }
}

void ModelPool::begin_waiting(Model& model) {
  if (!model.loaded || model.is_leaving) return;
  for (Waiting& one : std::exchange(model.waiting, {})) start(model, std::move(one));
}

std::optional<uint32_t> ModelPool::wait_seconds() const {
  std::optional<uint32_t> least;
  for (const Model& model : models_) {
    const auto seconds = model.admission.wait_seconds();
    if (!seconds) return std::nullopt;
    least = std::min(least.value_or(*seconds), *seconds);
  }
  return least;
}

std::string ModelPool::full_text(uint32_t seconds) const {
  return fmt::format("The queue is full ({} waiting). Retry after {} second{}.", options_.max_queue,
                     seconds, seconds == 1 ? "" : "s");
}

std::string_view ModelPool::model_of(CallId id) const {
  const auto found = calls_.find(id);
  return found == calls_.end() ? "" : std::string_view(models_[found->second.model].names.front());
}

std::vector<ModelSample> ModelPool::samples() const {
  std::vector<ModelSample> out;
  for (const Model& model : models_) {
    ModelSample sample = {.name = model.names.front(),
                          .is_loaded = model.loaded.has_value(),
                          .is_loading = model.is_loading,
                          .loads = model.loads,
                          .adapters = model.card.adapters,
                          .changed = model.changed};
    if (model.loaded) {
      sample.stats = model.loaded->loop->stats();
      sample.devices = model.loaded->loop->devices();
    }
    // After those: what no longer runs by them has been counted.
    sample.counters = model.metrics.counters();
    sample.stats.waiting += uint32_t(model.waiting.size());
    sample.stats.add_counts(model.gone);
    out.push_back(std::move(sample));
  }
  return out;
}

}  // namespace tokamak::serve
