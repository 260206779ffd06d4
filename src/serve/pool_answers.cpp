// The answers of a pool itself: lists of models, whether they are in memory or not.
#include <algorithm>
#include <cmath>

#include "protocol/answers/answer_writer.h"
#include "protocol/ollama/writers.h"
#include "protocol/service/text_body_reader.h"
#include "serve/model_pool.h"

namespace tokamak::serve {
namespace {

using protocol::Action;

Reply json_reply(const Json& json) {
  return {.body = json.dump()};
}

/// The capability that an action needs, where most of a server's models lack it; "" for all else.
std::string_view wanted_capability(Action action) {
  if (action == Action::kSpeak) return protocol::kSpeechCapability;
  const bool hears = action == Action::kTranscribe || action == Action::kTranslate;
  return hears ? protocol::kTranscriptionCapability : "";
}

}  // namespace

size_t ModelPool::preferred_model(const protocol::RequestedModel& asked) const {
  if (asked.model) return *asked.model;
  const std::string_view wanted = wanted_capability(asked.route->action);
  for (size_t i = 0; !wanted.empty() && i < models_.size(); ++i) {
    if (std::ranges::count(models_[i].card.capabilities, wanted) > 0) return i;
  }
  // Nothing is loaded for those who only look, where something is.
  if (asked.route->action != Action::kProps || models_.front().loaded) return 0;
  for (size_t i = 0; i < models_.size(); ++i) {
    if (models_[i].loaded) return i;
  }
  return 0;
}

std::vector<protocol::ModelCard> ModelPool::cards() const {
  std::vector<protocol::ModelCard> out;
  for (const Model& model : models_) {
    for (const std::string& name : model.names) {
      out.push_back(protocol::called(model.card, name));
    }
  }
  return out;
}

double ModelPool::expiry_of(const Model& model) const {
  if (model.is_pinned || model.is_kept) return std::numeric_limits<double>::infinity();
  return model.keep_seconds + (model.calls > 0 ? now() : model.last_use);
}

Json ModelPool::residents() const {
  constexpr double kYear = 365 * 24 * 3600;  // as good as for ever
  const double time = now();
  std::vector<protocol::ResidentModel> all;
  for (const Model& model : models_) {
    if (!model.loaded && !model.is_loading) continue;
    const SchedulerStats stats = model.loaded ? model.loaded->loop->stats() : SchedulerStats{};
    const uint32_t queued = std::min(stats.waiting, model.calls);
    const double left = std::clamp(expiry_of(model) - time, 0.0, kYear);
    protocol::ResidentModel one = {.card = &model.card,
                                   .bytes = model.loaded ? model.loaded->bytes : model.least_bytes,
                                   .is_gpu = model.loaded && model.loaded->is_gpu,
                                   .expires = options_.unix_seconds() + int64_t(left)};
    one.more = {{"device", model.loaded ? Json(model.loaded->device) : Json()},
                {"state", model.is_loading   ? "loading"
                          : model.is_leaving ? "leaving"
                                             : "loaded"},
                {"pinned", model.is_pinned || model.is_kept},
                {"expires_seconds", left == kYear ? Json() : Json(left)},
                {"running", model.calls - queued},
                {"waiting", uint64_t(queued + model.waiting.size())},
                {"idle_seconds", model.calls > 0 ? 0 : std::max(time - model.last_use, 0.0)}};
    all.push_back(std::move(one));
  }
  return protocol::ollama_ps(all);
}

std::optional<Reply> ModelPool::unload_answer(const protocol::HttpRequest& request,
                                              const protocol::RequestedModel& asked) {
  // One that only unloads is short; a longer one is read where it does not stop the server.
  if (asked.route->action != Action::kText || asked.keep_seconds != 0 ||
      request.body.size() > kShortBody) {
    return std::nullopt;
  }
  const auto body = protocol::read_text_body(request.body, asked.route->endpoint);
  Model& model = models_[preferred_model(asked)];
  // One that is pinned stays, and its service says so.
  if (!body || !body->only_loads || model.is_pinned) return std::nullopt;
  model.is_kept = false;
  model.keep_seconds = 0;
  advance();
  return json_reply(protocol::ollama_load_json(model.names.front(), options_.unix_seconds(),
                                               asked.route->endpoint, "unload"));
}

std::optional<Reply> ModelPool::own_answer(const protocol::HttpRequest& request,
                                           const protocol::RequestedModel& asked) {
  const protocol::ModelCard* card = asked.model ? &models_[*asked.model].card : nullptr;
  const auto refused = [&](const protocol::ApiError& error) {
    return Reply{.status = error.status,
                 .body = error.body(protocol::dialect_of(request.path)).dump()};
  };
  switch (asked.route->action) {
    case Action::kModels:
      return json_reply(protocol::models_json(cards()));
    case Action::kModel: {
      const std::string name = protocol::asked_model(request.path);
      if (card == nullptr) return refused(protocol::unknown_model(name, names_));
      const std::string adapter = protocol::asked_adapter(*card, name);
      return json_reply(
          protocol::model_json(adapter.empty() ? *card : protocol::called(*card, adapter)));
    }
    case Action::kOllamaTags:
      return json_reply(protocol::ollama_tags(cards()));
    case Action::kOllamaPs:
      return json_reply(residents());
    case Action::kVoices:
      return json_reply(protocol::voices_json(options_.speech));
    case Action::kOllamaVersion:
      return json_reply(Json(Json::Object{{"version", TOKAMAK_VERSION}}));
    case Action::kOllamaShow: {
      if (request.body.size() > kShortBody) {
        return refused({.status = 413,
                        .message = fmt::format("The body has {} bytes, but {} takes at most {}.",
                                               request.body.size(), request.path, kShortBody)});
      }
      const auto fields = protocol::read_fields(request.body, asked.route->endpoint);
      if (!fields) return refused(fields.error());
      if (card == nullptr && fields->model) {
        return refused(protocol::unknown_model(*fields->model, names_));
      }
      return json_reply(protocol::ollama_show(card == nullptr ? models_.front().card : *card));
    }
    default:
      return unload_answer(request, asked);
  }
}

}  // namespace tokamak::serve
