// How models of a pool come and go.
#include <algorithm>

#include "base/guarded.h"
#include "serve/model_pool.h"

namespace tokamak::serve {
namespace {

/// The error for a client whose model cannot be loaded: files by their names within it.
protocol::ApiError load_error(const PoolModel& model, const Error& error) {
  const std::string& id = model.names.front();
  std::string text = error.message;
  for (const char* after : {"/", ":"}) {
    const std::string path = model.path + after;
    for (size_t at = 0; !model.path.empty() && (at = text.find(path, at)) != text.npos;) {
      text.replace(at, model.path.size(), id);
      at += id.size();
    }
  }
  const bool is_short =
      error.code == ErrorCode::kOutOfMemory || error.code == ErrorCode::kCancelled;
  return {.status = is_short ? 503 : 500,
          .message = fmt::format("The model \"{}\" cannot be loaded: {}", id, text),
          .param = "model",
          .code = "model_not_loaded"};
}

}  // namespace

std::vector<ResidencyFacts> ModelPool::facts() const {
  std::vector<ResidencyFacts> out;
  for (const Model& model : models_) {
    out.push_back({.is_loaded = model.loaded.has_value(),
                   .is_pinned = model.is_pinned || model.is_kept,
                   .is_busy = model.calls > 0,
                   .bytes = model.loaded ? model.loaded->bytes : model.least_bytes,
                   .last_use = model.last_use,
                   .keep_seconds = model.keep_seconds});
  }
  return out;
}

std::optional<ModelPool::Change> ModelPool::next_change() {
  for (Model& model : models_) model.is_leaving = false;
  for (; !to_load_.empty(); to_load_.pop_front()) {
    Model& model = models_[to_load_.front()];
    model.must_evict = model.must_evict && !model.waiting.empty();
    if (model.waiting.empty() || model.loaded) continue;  // nobody wants it any more
    auto leaving = models_to_evict(facts(), to_load_.front(), options_.limits, model.must_evict);
    if (leaving) return Change{to_load_.front(), *std::move(leaving)};
    refuse_waiting(model, {.status = 503,
                           .message = fmt::format("There is no room for the model \"{}\" beside "
                                                  "those that are pinned.",
                                                  model.names.front()),
                           .param = "model",
                           .code = "model_not_loaded"});
  }
  Change change{.leaving = expired_models(facts(), now())};
  if (change.leaving.empty()) return std::nullopt;
  return change;
}

void ModelPool::advance() {
  if (is_changing_) return;
  const std::optional<Change> change = next_change();
  bool is_idle = true;
  if (change) {
    for (const size_t i : change->leaving) {
      models_[i].is_leaving = true;
      is_idle = is_idle && models_[i].calls == 0;
    }
  }
  for (Model& model : models_) begin_waiting(model);
  if (change && is_idle) make_change(*change);
  set_alarm();
}

LoadedModel ModelPool::take_out(size_t index) {
  Model& model = models_[index];
  model.gone.add_counts(model.loaded->loop->stats());
  model.is_leaving = false;
  model.changed = options_.unix_seconds();
  options_.note(fmt::format("Unloading {}.\n", model.names.front()));
  LoadedModel out = *std::move(model.loaded);
  model.loaded.reset();
  // A request may have come while it was about to leave.
  if (!model.waiting.empty()) to_load_.push_back(index);
  return out;
}

uint64_t ModelPool::room() const {
  if (options_.limits.bytes == 0) return 0;
  uint64_t taken = 0;
  for (const Model& model : models_) taken += model.loaded ? model.loaded->bytes : 0;
  return options_.limits.bytes - std::min(taken, options_.limits.bytes - 1);
}

void ModelPool::make_change(const Change& change) {
  is_changing_ = true;
  // A job is copied where std::function is.
  auto gone = std::make_shared<std::vector<LoadedModel>>();
  for (const size_t i : change.leaving) gone->push_back(take_out(i));
  if (!change.model) {
    change_ = std::make_unique<BackgroundTask>([this, gone] {
      gone->clear();
      server_.post([this] {
        is_changing_ = false;
        advance();
      });
    });
    return;
  }
  const size_t index = *change.model;
  to_load_.pop_front();
  models_[index].is_loading = true;
  models_[index].changed = options_.unix_seconds();
  options_.note(fmt::format("Loading {}.\n", models_[index].names.front()));
  change_ = std::make_unique<BackgroundTask>([this, gone, index, room = room()] {
    gone->clear();
    auto loaded = std::make_shared<Result<LoadedModel>>(guarded([&]() -> Result<LoadedModel> {
      TOK_TRY(auto engine, options_.open(index, room, is_ending_));
      return make_loaded(index, std::move(engine));
    }));
    server_.post([this, index, loaded] {
      is_changing_ = false;
      finish_load(index, std::move(*loaded));
      advance();
    });
  });
}

void ModelPool::finish_load(size_t index, Result<LoadedModel> loaded) {
  Model& model = models_[index];
  model.is_loading = false;
  model.changed = options_.unix_seconds();
  if (loaded) {
    model.card = loaded->loop->card();
    model.loaded = *std::move(loaded);
    model.must_evict = false;
    ++model.loads;
    model.last_use = now();
    // Before it may have to leave for the next one.
    return begin_waiting(model);
  }
  const auto may_leave = [](const Model& other) { return other.loaded && !other.is_pinned; };
  if (loaded.error().code == ErrorCode::kOutOfMemory && !is_ending_ &&
      std::ranges::any_of(models_, may_leave)) {
    model.must_evict = true;
    to_load_.push_front(index);
    return;
  }
  model.must_evict = false;
  options_.note(
      fmt::format("{} cannot be loaded: {}\n", model.names.front(), loaded.error().message));
  refuse_waiting(model, load_error(model, loaded.error()));
}

void ModelPool::set_alarm() {
  const double next = next_expiry(facts());
  if (next >= alarm_) return;
  alarm_ = next;
  server_.after(std::max(next - now(), 0.0), [this] {
    alarm_ = std::numeric_limits<double>::infinity();
    advance();
  });
}

}  // namespace tokamak::serve
