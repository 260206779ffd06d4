// The state that a Stream and the thread that runs its request share.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "openai/answer_reader.h"
#include "tokamak/tokamak.h"

namespace tokamak {

class StreamLoop;

struct StreamState {
  std::weak_ptr<StreamLoop> pump;  // where the model has no thread
  std::atomic<bool> is_cancelled = false;
  std::function<void()> notify;
  /// Held while `notify` runs, which may drop the stream: then it is called no more.
  std::recursive_mutex notifying;
  bool is_dropped = false;

  // The piece of a step until publish(); for the thread that runs the engine.
  TextPiece staged;
  std::optional<openai::AnswerReader> reader;  // where reasoning comes apart
  std::optional<Result<Generation>> staged_end;

  // The part that the stream may take.
  std::mutex mutex;
  std::condition_variable arrived;
  std::optional<TextPiece> piece;
  std::optional<Result<Generation>> end;

  /// Gives the stream what is staged, a whole step at once: tokens never come without their text.
  void publish();
};

}  // namespace tokamak
