#include "serve/gateway.h"

#include <algorithm>

#include "engine/engine.h"
#include "protocol/requests/routes.h"
#include "serve/error_reply.h"
#include "serve/page.h"

namespace tokamak::serve {
namespace {

constexpr uint32_t kLoadingSeconds = 5;

Field retry_after(uint32_t seconds) {
  return {"Retry-After", std::to_string(seconds)};
}

/// A comment in a stream of events, or an event where the protocol has one for it.
std::string_view keep_alive_text(std::string_view path) {
  const bool has_event = protocol::dialect_of(path) == protocol::Dialect::kAnthropic;
  return has_event ? "event: ping\ndata: {\"type\":\"ping\"}\n\n" : ": wait\n\n";
}

/// The methods for a client where the service takes `method`.
std::string all_methods(std::string_view method) {
  return fmt::format("{}{}, OPTIONS", method, method == "GET" ? ", HEAD" : "");
}

void widen_allow(Reply& reply) {
  for (Field& field : reply.fields) {
    if (field.name == "Allow") field.value = all_methods(field.value);
  }
}

}  // namespace

Gateway::Gateway(Server& server, GatewayOptions options)
    : server_(server), options_(std::move(options)), access_(options_.access) {
  set_keys(options_.access.keys);
}

void Gateway::set_keys(std::vector<std::string> keys) {
  std::map<std::string, Key> before = std::exchange(known_keys_, {});
  keys_.clear();
  for (const std::string& text : keys) {
    const auto known = before.find(text);
    Key key = known != before.end() ? known->second : Key{.id = next_key_++, .admission = {}};
    if (options_.requests_of_key != 0 && key.admission == nullptr) {
      key.admission = std::make_shared<Admission>(options_.requests_of_key, 0);
    }
    known_keys_[text] = key;
    keys_.push_back(std::move(key));
  }
  access_.set_keys(std::move(keys));
}

Handler Gateway::handler() {
  return {.check = [this](const RequestHead& head) { return check(head); },
          .call = [this](CallId id, const RequestHead& head, std::string body,
                         BodyLease lease) { call(id, head, std::move(body), std::move(lease)); },
          .refuse = [](int status, std::string_view message,
                       std::string_view path) { return error_reply(path, status, message); },
          .gone = [this](CallId id) { gone(id); },
          .hold =
              [this](CallId id, bool is_held) {
                if (calls_.contains(id)) pool_->hold(id, is_held);
              },
          .answered =
              [this](const Answered& answered) {
                metrics_.answered(metric_path(answered.path), answered.status);
                if (options_.log) options_.log(answered);
              }};
}

void Gateway::open(ModelPool& pool) {
  pool_ = &pool;
  if (state_ == State::kLoading) state_ = State::kReady;
  pool.advance();
}

Verdict Gateway::check(const RequestHead& head) {
  return {.refusal = refusal(head), .fields = access_.origin_fields(head)};
}

std::optional<Reply> Gateway::refusal(const RequestHead& head) const {
  if (auto reply = refusal_of_client(head)) return reply;
  return head.method == "POST" ? refusal_of_work(head) : std::nullopt;
}

std::optional<Reply> Gateway::refusal_of_client(const RequestHead& head) const {
  const std::string_view path = head.path();
  if (!access_.is_host_right(head)) {
    return error_reply(path, 403,
                       "The Host of the request is not a name of this machine; --allowed-host NAME "
                       "allows another one.");
  }
  if (access_.is_foreign_page(head)) {
    return error_reply(path, 403,
                       "Pages of other origins may not use this server; --cors-origin ORIGIN "
                       "allows those of one.");
  }
  if (access_.has_keys() && !is_public(path) && head.method != "OPTIONS" && !access_.key_of(head)) {
    Reply reply = error_reply(path, 401,
                              "A valid API key is needed: Authorization: Bearer KEY, or x-api-key.",
                              "invalid_api_key");
    reply.fields.push_back({"WWW-Authenticate", "Bearer"});
    return reply;
  }
  return std::nullopt;
}

std::optional<Reply> Gateway::refusal_of_work(const RequestHead& head) const {
  if (auto reply = refusal_of_state(head.path())) return reply;
  if (auto reply = refusal_of_key(head)) return reply;
  const auto seconds = pool_->wait_seconds();
  if (head.method != "POST" || !seconds) return std::nullopt;
  Reply reply = error_reply(head.path(), 429, pool_->full_text(*seconds));
  reply.fields.push_back(retry_after(*seconds));
  return reply;
}

std::optional<Reply> Gateway::refusal_of_key(const RequestHead& head) const {
  const auto key = access_.key_of(head);
  if (head.method != "POST" || !key || keys_[*key].admission == nullptr) return std::nullopt;
  const Admission& admission = *keys_[*key].admission;
  const auto seconds = admission.wait_seconds();
  if (!seconds) return std::nullopt;
  Reply reply = error_reply(
      head.path(), 429,
      fmt::format("This key has reached its limit of {} concurrent requests. Retry when one has "
                  "ended.",
                  admission.in_flight()));
  reply.fields.push_back(retry_after(*seconds));
  return reply;
}

std::optional<Reply> Gateway::refusal_of_state(std::string_view path) const {
  if (state_ == State::kReady) return std::nullopt;
  const bool is_loading = state_ == State::kLoading;
  Reply reply =
      error_reply(path, 503, is_loading ? "The model is being loaded." : "The server is stopping.");
  reply.fields.push_back(
      retry_after(is_loading ? kLoadingSeconds : uint32_t(std::max(options_.drain_seconds, 1.0))));
  return reply;
}

Reply Gateway::health(const RequestHead&) const {
  if (auto reply = refusal_of_state("/health")) return *reply;
  return {.body = R"({"status":"ok"})"};
}

Reply Gateway::metrics(const RequestHead&) const {
  const auto models = pool_ == nullptr ? std::vector<ModelSample>{} : pool_->samples();
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = metrics_.text(models, server_.connections())};
}

/// The running requests, without a word of their texts.
Reply Gateway::slots(const RequestHead& head) const {
  if (!options_.shows_slots) {
    return error_reply(head.path(), 501,
                       "The server shows its slots only when started with --slots.");
  }
  Json::Array slots;
  for (const auto& [id, call] : calls_) {
    slots.push_back(Json(Json::Object{{"id", uint64_t(id)},
                                      {"model", pool_->model_of(id)},
                                      {"path", call.path},
                                      {"state", call.has_begun ? "answering" : "waiting"},
                                      {"seconds", steady_clock()() - call.started}}));
  }
  return {.body = Json(Json::Object{{"slots", std::move(slots)}}).dump()};
}

Reply Gateway::root(const RequestHead& head) const {
  const std::string* accepts = head.find("accept");
  if (accepts != nullptr && accepts->find("text/html") != accepts->npos) {
    return chat_page(options_.random());
  }
  return {.content_type = "text/plain; charset=utf-8",
          .body =
              "Tokamak is running. POST /v1/chat/completions answers; a browser shows a page "
              "to chat here.\n"};
}

const Gateway::OwnPath Gateway::kOwnPaths[] = {
    {"/", &Gateway::root, Needs::kNothing},
    {"/health", &Gateway::health, Needs::kNothing},
    {"/v1/health", &Gateway::health, Needs::kNothing},
    {"/metrics", &Gateway::metrics, Needs::kKeyUnlessMetricsArePublic},
    {"/slots", &Gateway::slots, Needs::kKey},
};

bool Gateway::is_public(std::string_view path) const {
  const auto* own = std::ranges::find(kOwnPaths, path, &OwnPath::path);
  if (own == std::end(kOwnPaths)) return false;
  return own->needs == Needs::kNothing ||
         (own->needs == Needs::kKeyUnlessMetricsArePublic && options_.has_public_metrics);
}

std::string_view metric_path(std::string_view path) {
  const auto* own = std::ranges::find(Gateway::kOwnPaths, path, &Gateway::OwnPath::path);
  if (own != std::end(Gateway::kOwnPaths)) return own->path;
  const std::string_view label = protocol::route_label(path);
  return label.empty() ? "other" : label;
}

std::optional<Reply> Gateway::own_reply(const RequestHead& head) {
  const std::string_view path = head.path();
  const auto* own = std::ranges::find(kOwnPaths, path, &OwnPath::path);
  if (own == std::end(kOwnPaths)) return std::nullopt;
  if (head.method == "OPTIONS") {
    return Reply{.status = 204, .content_type = "", .fields = {{"Allow", all_methods("GET")}}};
  }
  if (head.method != "GET" && head.method != "HEAD") {
    Reply reply = error_reply(path, 405, fmt::format("{} takes GET only.", path));
    reply.fields.push_back({"Allow", all_methods("GET")});
    return reply;
  }
  return (this->*own->reply)(head);
}

void Gateway::call(CallId id, const RequestHead& head, std::string body, BodyLease lease) {
  if (auto reply = own_reply(head)) return server_.reply(id, *std::move(reply));
  // Much may have changed since the head came, even the keys.
  if (auto reply = refusal_of_client(head)) return server_.reply(id, *std::move(reply));
  if (auto reply = refusal_of_work(head)) return server_.reply(id, *std::move(reply));
  Call& call = calls_[id];
  call = {.method = head.method, .path = std::string(head.path()), .started = steady_clock()()};
  const auto key = access_.key_of(head);
  if (key && head.method == "POST" && keys_[*key].admission != nullptr) {
    call.place = keys_[*key].admission->begin();
  }
  protocol::HttpRequest request = {.method = head.method == "HEAD" ? "GET" : head.method,
                                   .path = head.target,
                                   .body = std::move(body)};
  if (const std::string* type = head.find("content-type")) request.content_type = *type;
  request.body_lease = std::make_shared<const BodyLease>(std::move(lease));
  if (key) request.tenant = fmt::format("key {}", keys_[*key].id);
  if (call.place) {
    request.admit = [place = call.place](uint32_t sequences) {
      return place->admit(sequences, "this key may have");
    };
  }
  pool_->begin(id, std::move(request));
}

void Gateway::take(std::vector<Part> parts) {
  for (Part& part : parts) {
    const auto found = calls_.find(part.id);
    if (found == calls_.end()) continue;  // gone meanwhile
    Call& call = found->second;
    if (part.head) widen_allow(*part.head);
    // Events are a stream also where one turn has brought all of them.
    const bool is_stream =
        !part.ends || (part.head && part.head->content_type.starts_with("text/event-stream"));
    if (part.head && !is_stream) {
      Reply reply = *std::move(part.head);
      reply.body = std::move(part.bytes);
      if (call.method == "OPTIONS" && reply.status == 405) {
        reply = {.status = 204, .content_type = "", .fields = std::move(reply.fields)};
      }
      forget(part.id);
      server_.reply(part.id, std::move(reply));
      continue;
    }
    if (part.head) {
      call.has_begun = true;
      if (part.head->content_type.starts_with("text/event-stream")) {
        part.head->keep_alive_text = keep_alive_text(call.path);
      }
      part.head->fields.push_back({"Cache-Control", "no-cache"});
      part.head->fields.push_back({"X-Accel-Buffering", "no"});
      server_.begin(part.id, *std::move(part.head));
    }
    if (!part.bytes.empty()) server_.write(part.id, part.bytes);
    if (!part.ends || !calls_.contains(part.id)) continue;
    forget(part.id);
    server_.end(part.id);
  }
}

void Gateway::gone(CallId id) {
  if (!calls_.contains(id)) return;
  pool_->cancel(id);
  forget(id);
}

void Gateway::forget(CallId id) {
  const Call call = calls_.extract(id).mapped();
  if (call.place) call.place->end(steady_clock()() - call.started);
  // An answer that is being written ends first.
  if (state_ == State::kDraining && calls_.empty()) server_.post([this] { server_.stop(); });
}

void Gateway::drain() {
  if (std::exchange(state_, State::kDraining) == State::kDraining) return;
  if (calls_.empty()) return server_.stop();
  server_.after(options_.drain_seconds, [this] { pool_->cancel_all(); });
}

}  // namespace tokamak::serve
