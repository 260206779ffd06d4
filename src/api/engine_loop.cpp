#include "api/engine_loop.h"

namespace tokamak {

EngineLoop::EngineLoop(std::unique_ptr<Engine> engine, Scheduler* scheduler, bool has_thread)
    : engine_(std::move(engine)), scheduler_(scheduler), has_thread_(has_thread) {
  if (has_thread_) thread_ = std::thread([this] { run(); });
}

bool EngineLoop::post(std::function<void(Engine&)> job) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_closing_) return false;
    jobs_.push_back(std::move(job));
  }
  wakes_.notify_one();
  return true;
}

bool EngineLoop::start(Request request, std::shared_ptr<StreamState> stream) {
  request.callbacks.text = [own = stream.get()](std::string_view text) {
    own->staged.text += text;
  };
  request.callbacks.token = [own = stream.get()](uint32_t id, const Logprobs* logprobs) {
    TextPiece::Token& token = own->staged.tokens.emplace_back();
    token.id = id;
    if (logprobs != nullptr) token.logprobs = *logprobs;
  };
  request.callbacks.cancelled = [this, own = stream.get()] {
    return own->is_cancelled || is_closing_;
  };
  request.done = [own = stream](Result<Generation> end) { own->staged_end = std::move(end); };
  // A job is copied where std::function is; a request holds much.
  auto shared = std::make_shared<Request>(std::move(request));
  return post([this, shared, stream](Engine&) { add(std::move(*shared), stream); });
}

void EngineLoop::add(Request request, std::shared_ptr<StreamState> stream) {
  running_.push_back(stream);
  const auto id = scheduler_->add(std::move(request));
  if (!id) stream->staged_end = Failure(id.error());
}

void EngineLoop::publish() {
  for (const auto& stream : running_) stream->publish();
  std::erase_if(running_, [](const auto& stream) { return stream->staged_end.has_value(); });
}

bool EngineLoop::turn(bool waits) {
  std::vector<std::function<void(Engine&)>> jobs;
  {
    const std::scoped_lock lock(mutex_);
    jobs.swap(jobs_);
  }
  for (const auto& job : jobs) job(*engine_);
  bool goes_on = false;
  if (scheduler_ != nullptr) {
    // An error has been given to every request that it ended.
    goes_on = scheduler_->step().value_or(false);
    publish();
    if (goes_on && waits) static_cast<void>(scheduler_->wait());
  }
  return goes_on;
}

void EngineLoop::run() {
  bool goes_on = false;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wakes_.wait(lock, [&] { return goes_on || is_closing_ || !jobs_.empty(); });
      if (!goes_on && jobs_.empty()) return;
    }
    goes_on = turn(true);
  }
}

void EngineLoop::close() {
  const std::scoped_lock only(closing_);
  {
    const std::scoped_lock lock(mutex_);
    is_closing_ = true;
  }
  wakes_.notify_one();
  if (thread_.joinable()) thread_.join();
  // Without a thread; and with one there is nothing left.
  while (turn(true)) {
  }
}

}  // namespace tokamak
