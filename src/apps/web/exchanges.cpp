#include "apps/web/exchanges.h"

#include <ctime>
#include <utility>

#include "base/splitmix.h"

namespace tokamak::web {

Result<uint32_t> Exchanges::begin(Engine& engine, const protocol::HttpRequest& request) {
  if (service_ == nullptr) {
    random_ = fresh_seed(steady_clock()(), last_);
    const auto now = [] { return int64_t{std::time(nullptr)}; };
    TOK_TRY(service_,
            protocol::Service::make(engine, {.model = engine.files().name,
                                             .created = now(),
                                             .unix_seconds = now,
                                             .random = [this] { return next_random(random_); }}));
  }
  const uint32_t number = ++last_;
  protocol::Sink sink;
  sink.begin = [this, number](int status, std::string_view content_type) {
    Json event;
    event.set("exchange", number).set("status", status).set("contentType", content_type);
    events_.push_back(std::move(event));
  };
  sink.write = [this, number](std::string_view text) { bodies_[number] += text; };
  sink.end = [this, number] {
    flush(number);
    Json event;
    event.set("exchange", number).set("end", true);
    events_.push_back(std::move(event));
    running_.erase(number);
  };
  running_.emplace(number, protocol::ExchangeId{});
  const protocol::ExchangeId id = service_->begin(request, std::move(sink));
  while (service_->has_jobs()) service_->run_job();
  const auto found = running_.find(number);  // gone where the answer was there at once
  if (found != running_.end()) found->second = id;
  return number;
}

void Exchanges::cancel(uint32_t exchange) {
  const auto found = running_.find(exchange);
  if (found == running_.end()) return;
  service_->cancel(found->second);
  running_.erase(found);
  bodies_.erase(exchange);
}

void Exchanges::clear() {
  service_.reset();
  running_.clear();
  bodies_.clear();
  events_.clear();
}

void Exchanges::flush(uint32_t exchange) {
  const auto found = bodies_.find(exchange);
  if (found == bodies_.end()) return;
  Json event;
  event.set("exchange", exchange).set("body", std::move(found->second));
  events_.push_back(std::move(event));
  bodies_.erase(found);
}

Json::Array Exchanges::take_events() {
  while (!bodies_.empty()) flush(bodies_.begin()->first);
  return std::exchange(events_, {});
}

}  // namespace tokamak::web
