#include "api/calls.h"

#include <ctime>
#include <utility>

#include "api/model_state.h"
#include "base/splitmix.h"

namespace tokamak {
namespace {

protocol::Sink sink_of(const std::shared_ptr<CallState>& call, std::function<bool()> is_cancelled) {
  return {.begin = [call](int status, std::string_view type) { call->begin(status, type); },
          .write = [call](std::string_view bytes) { call->write(bytes); },
          .end = [call] { call->end(); },
          .is_cancelled = std::move(is_cancelled)};
}

/// The data of an event, without the names of its lines.
std::string data_of(std::string_view event) {
  std::string data;
  while (!event.empty()) {
    const std::string_view line = event.substr(0, event.find('\n'));
    event.remove_prefix(std::min(event.size(), line.size() + 1));
    constexpr std::string_view kData = "data:";
    if (!line.starts_with(kData)) continue;
    std::string_view rest = line.substr(kData.size());
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    data.append(data.empty() ? "" : "\n").append(rest);
  }
  return data;
}

struct Cancellable {
  std::function<bool()> cancelled;
};

}  // namespace

void CallState::begin(int status, std::string_view content_type) {
  status_ = status;
  content_type_ = content_type;
  if (content_type.starts_with("text/event-stream")) {
    framing_ = Framing::kEvents;
  } else if (content_type.starts_with("application/x-ndjson")) {
    framing_ = Framing::kLines;
  } else if (!content_type.starts_with("application/json")) {
    framing_ = Framing::kBytes;
  }
}

void CallState::write(std::string_view bytes) {
  if (framing_ == Framing::kBytes) return give(std::string(bytes));
  open_ += bytes;
  if (framing_ == Framing::kWhole) return;
  const std::string_view mark = framing_ == Framing::kEvents ? "\n\n" : "\n";
  size_t done = 0;
  for (size_t end = open_.find(mark); end != std::string::npos; end = open_.find(mark, done)) {
    const std::string_view part = std::string_view(open_).substr(done, end - done);
    done = end + mark.size();
    std::string data = framing_ == Framing::kEvents ? data_of(part) : std::string(part);
    if (!data.empty() && data != "[DONE]") give(std::move(data));
  }
  open_.erase(0, done);
}

void CallState::end() {
  if (framing_ == Framing::kWhole) give(std::exchange(open_, {}));
  {
    const std::scoped_lock lock(mutex);
    has_ended = true;
  }
  announce();
}

void CallState::give(std::string bytes) {
  {
    const std::scoped_lock lock(mutex);
    parts.push_back({.status = status_, .content_type = content_type_, .bytes = std::move(bytes)});
  }
  announce();
}

Result<void> Calls::make_service(EngineLoop& loop, const std::string& model) {
  const std::scoped_lock lock(making_);
  if (service_ != nullptr) return {};
  const auto now = [] { return int64_t{std::time(nullptr)}; };
  const auto random = [this] { return next_random(random_); };
  using Made = std::unique_ptr<protocol::Service>;
  const auto make = [this, now, random, model](Engine& engine, const Cancellable&) -> Result<Made> {
    random_ = fresh_seed(steady_clock()(), 0);
    return protocol::Service::make(
        engine, {.model = model, .created = now(), .unix_seconds = now, .random = random});
  };
  TOK_TRY(service_, run_and_wait<Made>(loop, Cancellable(), make));
  return {};
}

Result<std::shared_ptr<CallState>> Calls::begin(const std::shared_ptr<StreamLoop>& loop,
                                                const std::string& model, std::string_view path,
                                                std::string_view body) {
  EngineLoop& own = loop->loop();
  if (own.is_closing()) return is_closed();
  TOK_TRY(make_service(own, model));
  auto call = std::make_shared<CallState>();
  if (!own.has_thread()) call->pump = loop;
  auto request = std::make_shared<protocol::PreparedRequest>();
  {
    const std::scoped_lock lock(reading_);
    *request = service_->prepare({.method = body.empty() ? "GET" : "POST",
                                  .path = std::string(path),
                                  .body = std::string(body)},
                                 grammars_);
  }
  if (request->is_answered()) {
    protocol::Service::give(*request, sink_of(call, {}));
    return call;
  }
  const bool is_open =
      own.post([this, &own, call, request](Engine&) { start(own, call, std::move(*request)); });
  if (!is_open) return is_closed();
  return call;
}

void Calls::start(EngineLoop& loop, const std::shared_ptr<CallState>& call,
                  protocol::PreparedRequest request) {
  const auto is_cancelled = [&loop, own = call.get()] {
    return own->is_cancelled || loop.is_closing();
  };
  const protocol::Dialect dialect = request.dialect;
  const auto begun = guarded([&]() -> Result<void> {
    service_->begin_prepared(std::move(request), sink_of(call, is_cancelled));
    return {};
  });
  if (!begun) {
    const protocol::Refusal refused(protocol::api_error(begun.error()));
    protocol::Service::give({.dialect = dialect, .work = refused}, sink_of(call, {}));
  }
  resume(loop);
}

void Calls::resume(EngineLoop& loop) {
  if (is_job_next_ || !service_->has_jobs()) return;
  is_job_next_ = loop.post([this, &loop](Engine&) {
    is_job_next_ = false;
    const auto ran = guarded([&]() -> Result<void> {
      if (service_->has_jobs()) service_->run_job();
      return {};
    });
    if (!ran) service_->cancel_all();  // a job may be half changed
    resume(loop);
  });
}

void Calls::close() {
  const std::scoped_lock lock(making_);
  if (service_ != nullptr) service_->cancel_all();
}

Call::Call(std::shared_ptr<CallState> state) : state_(std::move(state)) {}
Call::Call(Call&&) noexcept = default;

Call& Call::operator=(Call&& other) noexcept {
  if (this == &other) return *this;
  if (state_ != nullptr) state_->drop();
  state_ = std::move(other.state_);
  return *this;
}

Call::~Call() {
  if (state_ != nullptr) state_->drop();
}

std::optional<AnswerPart> Call::take(std::optional<std::chrono::nanoseconds> timeout) {
  if (state_ == nullptr) return std::nullopt;
  state_->wait(timeout, [&] { return !state_->parts.empty() || state_->has_ended; });
  const std::scoped_lock lock(state_->mutex);
  if (state_->parts.empty()) return std::nullopt;
  AnswerPart part = std::move(state_->parts.front());
  state_->parts.pop_front();
  return part;
}

std::optional<AnswerPart> Call::next() {
  return take(std::nullopt);
}

std::optional<AnswerPart> Call::next(std::chrono::nanoseconds timeout) {
  return take(timeout);
}

void Call::on_ready(std::function<void()> ready) {
  if (state_ == nullptr) return;
  state_->on_ready(std::move(ready), [&] { return !state_->parts.empty() || state_->has_ended; });
}

bool Call::ended() const {
  if (state_ == nullptr) return true;
  const std::scoped_lock lock(state_->mutex);
  return state_->has_ended && state_->parts.empty();
}

void Call::cancel() {
  if (state_ != nullptr) state_->is_cancelled = true;
}

}  // namespace tokamak
