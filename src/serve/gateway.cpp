#include "serve/gateway.h"

#include <array>

#include "engine/engine.h"
#include "serve/error_body.h"

namespace tokamak::serve {
namespace {

constexpr uint32_t kLoadingSeconds = 5;

Field retry_after(uint32_t seconds) {
  return {"Retry-After", std::to_string(seconds)};
}

/// What a probe or a browser may ask without a key: nothing of the model, nothing of others.
bool is_public(std::string_view path) {
  return path == "/" || path == "/health" || path == "/v1/health";
}

bool is_get(const RequestHead& head) {
  return head.method == "GET" || head.method == "HEAD";
}

}  // namespace

Gateway::Gateway(Server& server, GatewayOptions options)
    : server_(server),
      options_(std::move(options)),
      access_(options_.access),
      admission_(options_.sequences, options_.max_queue) {}

Handler Gateway::handler() {
  return {.check = [this](const RequestHead& head) { return check(head); },
          .call = [this](CallId id, const RequestHead& head,
                         std::string body) { call(id, head, std::move(body)); },
          .refuse = [](int status, std::string_view message,
                       std::string_view path) { return error_reply(path, status, message); },
          .gone =
              [this](CallId id) {
                if (!calls_.contains(id)) return;
                loop_->cancel(id);
                forget(id);
              },
          .hold = [](CallId, bool) {},
          .answered =
              [this](const Answered& answered) {
                if (options_.log) options_.log(answered);
              }};
}

void Gateway::open(ServiceLoop& loop) {
  loop_ = &loop;
  if (state_ == State::kLoading) state_ = State::kReady;
}

Verdict Gateway::check(const RequestHead& head) {
  return {.refusal = refusal(head), .fields = access_.origin_fields(head)};
}

std::optional<Reply> Gateway::refusal(const RequestHead& head) {
  const std::string_view path = head.path();
  if (!access_.is_host_right(head)) {
    return error_reply(path, 403,
                       "The Host of the request is not one of this machine; --allowed-host NAME "
                       "lets another one in.");
  }
  if (access_.has_keys() && !is_public(path) && head.method != "OPTIONS" && !access_.key_of(head)) {
    Reply reply = error_reply(path, 401,
                              "A valid API key is needed: Authorization: Bearer KEY, or x-api-key.",
                              "invalid_api_key");
    reply.fields.push_back({"WWW-Authenticate", "Bearer"});
    return reply;
  }
  if (is_public(path)) return std::nullopt;
  if (auto reply = refusal_of_state(path)) return reply;
  if (head.method != "POST") return std::nullopt;
  const auto seconds = admission_.wait_seconds();
  if (!seconds) return std::nullopt;
  Reply reply = error_reply(
      path, 429,
      fmt::format("{} requests are waiting already; come again later.", options_.max_queue),
      "queue_full");
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

Reply Gateway::health() const {
  if (auto reply = refusal_of_state("/health")) return *reply;
  return {.body = R"({"status":"ok"})"};
}

std::optional<Reply> Gateway::own_reply(const RequestHead& head) {
  const std::string_view path = head.path();
  if ((path == "/health" || path == "/v1/health") && is_get(head)) return health();
  return std::nullopt;
}

void Gateway::call(CallId id, const RequestHead& head, std::string body) {
  if (auto reply = own_reply(head)) return server_.reply(id, *std::move(reply));
  // It may have changed since the head came.
  if (auto reply = refusal_of_state(head.path())) return server_.reply(id, *std::move(reply));
  calls_[id] = {.started = steady_clock()()};
  admission_.begin();
  loop_->begin(id, {.method = head.method == "HEAD" ? "GET" : head.method,
                    .path = head.target,
                    .body = std::move(body)});
}

void Gateway::take(std::vector<Part> parts) {
  for (Part& part : parts) {
    if (!calls_.contains(part.id)) continue;  // gone meanwhile
    if (part.head && part.ends) {
      part.head->body = std::move(part.bytes);
      forget(part.id);
      server_.reply(part.id, *std::move(part.head));
      continue;
    }
    if (part.head) {
      part.head->fields = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
      server_.begin(part.id, *std::move(part.head));
    }
    if (!part.bytes.empty()) server_.write(part.id, part.bytes);
    if (!part.ends || !calls_.contains(part.id)) continue;
    forget(part.id);
    server_.end(part.id);
  }
}

void Gateway::forget(CallId id) {
  const auto found = calls_.find(id);
  admission_.end(steady_clock()() - found->second.started);
  calls_.erase(found);
  if (state_ == State::kDraining && calls_.empty()) server_.post([this] { server_.stop(); });
}

void Gateway::drain() {
  if (std::exchange(state_, State::kDraining) == State::kDraining) return;
  if (calls_.empty()) return server_.stop();
  server_.after(options_.drain_seconds, [this] { loop_->cancel_all(); });
}

}  // namespace tokamak::serve
