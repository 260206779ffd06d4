#include "api/stream_loop.h"

#include "base/guarded.h"
#include "engine/requests/text_request.h"

namespace tokamak {

StreamLoop::StreamLoop(std::unique_ptr<Engine> engine, Scheduler* scheduler, bool has_thread)
    : loop_(std::move(engine), scheduler,
            {.has_thread = has_thread, .turned = [this] { publish(); }}) {}

namespace {

void stage_token(StreamState& own, uint32_t id, const Logprobs* logprobs) {
  TextPiece::Token& token = own.staged.tokens.emplace_back();
  token.id = id;
  if (logprobs != nullptr) token.logprobs = *logprobs;
}

void read_whole(Request& request, const std::shared_ptr<StreamState>& stream) {
  request.callbacks.text = [own = stream.get()](std::string_view text) {
    own->staged.text += text;
  };
  request.callbacks.token = [own = stream.get()](uint32_t id, const Logprobs* logprobs) {
    stage_token(*own, id, logprobs);
  };
  request.done = [own = stream](Result<Generation> end) { own->staged_end = std::move(end); };
}

/// Reasoning and text come by the stream's reader. Steps run ahead of what it has read: tokens
/// after a stop text are dropped.
void read_apart(Request& request, const std::shared_ptr<StreamState>& stream) {
  request.params.has_text = false;
  request.callbacks.token = [own = stream.get()](uint32_t id, const Logprobs* logprobs) {
    if (own->reader->has_stopped()) return;
    stage_token(*own, id, logprobs);
    own->reader->take(id);
  };
  request.done = [own = stream](Result<Generation> end) {
    own->reader->finish();
    if (end) {
      end->text = own->reader->content();
      end->reasoning = own->reader->reasoning();
      if (own->reader->has_stopped()) {
        end->ids.resize(own->reader->tokens());
        end->finish = FinishReason::kStopString;
        end->stop = own->reader->stop();
      }
    }
    own->staged_end = std::move(end);
  };
}

}  // namespace

bool StreamLoop::start(Request request, std::vector<FittedImage> images,
                       std::shared_ptr<StreamState> stream) {
  if (stream->reader) {
    read_apart(request, stream);
  } else {
    read_whole(request, stream);
  }
  request.callbacks.cancelled = [this, own = stream.get()] {
    return own->is_cancelled || loop_.is_closing() || (own->reader && own->reader->has_stopped());
  };
  // A job is copied where std::function is; a request and its images hold much.
  struct Asked {
    Request request;
    std::vector<FittedImage> images;
  };
  auto shared = std::make_shared<Asked>(std::move(request), std::move(images));
  return loop_.post([this, shared, stream](Engine& engine) {
    running_.push_back(stream);
    const auto add = [&]() -> Result<RequestId> {
      TOK_TRY(Scheduler* const scheduler, engine.scheduler());
      TOK_TRY(add_images(engine, std::move(shared->images), shared->request));
      return scheduler->add(std::move(shared->request));
    };
    const auto id = guarded(add);
    if (!id) stream->staged_end = Failure(id.error());
  });
}

void StreamLoop::publish() {
  for (const auto& stream : running_) stream->publish();
  std::erase_if(running_, [](const auto& stream) { return stream->staged_end.has_value(); });
}

}  // namespace tokamak
