#include "api/stream_loop.h"

namespace tokamak {

StreamLoop::StreamLoop(std::unique_ptr<Engine> engine, Scheduler* scheduler, bool has_thread)
    : loop_(std::move(engine), scheduler,
            {.has_thread = has_thread, .turned = [this] { publish(); }}) {}

bool StreamLoop::start(Request request, std::shared_ptr<StreamState> stream) {
  request.callbacks.text = [own = stream.get()](std::string_view text) {
    own->staged.text += text;
  };
  request.callbacks.token = [own = stream.get()](uint32_t id, const Logprobs* logprobs) {
    TextPiece::Token& token = own->staged.tokens.emplace_back();
    token.id = id;
    if (logprobs != nullptr) token.logprobs = *logprobs;
  };
  request.callbacks.cancelled = [this, own = stream.get()] {
    return own->is_cancelled || loop_.is_closing();
  };
  request.done = [own = stream](Result<Generation> end) { own->staged_end = std::move(end); };
  // A job is copied where std::function is; a request holds much.
  auto shared = std::make_shared<Request>(std::move(request));
  return loop_.post([this, shared, stream](Engine& engine) {
    running_.push_back(stream);
    const auto scheduler = engine.scheduler();
    if (!scheduler) {
      stream->staged_end = Failure(scheduler.error());
      return;
    }
    const auto id = (*scheduler)->add(std::move(*shared));
    if (!id) stream->staged_end = Failure(id.error());
  });
}

void StreamLoop::publish() {
  for (const auto& stream : running_) stream->publish();
  std::erase_if(running_, [](const auto& stream) { return stream->staged_end.has_value(); });
}

}  // namespace tokamak
