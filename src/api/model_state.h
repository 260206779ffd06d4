// The state of a Model, for the files that implement it.
#pragma once
#include <atomic>
#include <future>
#include <memory>
#include <mutex>

#include "api/calls.h"
#include "api/stream_loop.h"
#include "base/guarded.h"
#include "protocol/templates/chat_form.h"
#include "tokamak/tokamak.h"

namespace tokamak {

struct Model::State {
  std::shared_ptr<StreamLoop> loop;  // streams of a model without a thread look for it
  Calls calls;
  ModelDetails details;
  std::string id;                      // as its clients call it
  std::atomic<uint64_t> requests = 0;  // for seeds
  std::once_flag reasoning_found;
  protocol::ChatForm reasoning_form;  // as reasoning() has it

  const Engine& engine() const { return loop->engine(); }
  /// How the model reasons, found once from its template. Any thread.
  const protocol::ChatForm& reasoning();
};

inline Failure is_closed() {
  return fail(ErrorCode::kUsage, "The model is closed.");
}

/// A seed for a call that names none.
uint64_t fresh_seed(std::atomic<uint64_t>& requests);

/// The value of `call` by the engine's thread; it is cancelled when the model closes. `options`
/// have a `cancelled`.
template <typename T, typename Options>
Result<T> run_and_wait(EngineLoop& loop, Options options, auto call) {
  const auto made = std::make_shared<std::promise<Result<T>>>();
  auto result = made->get_future();
  options.cancelled = [&loop, asked = options.cancelled] {
    return loop.is_closing() || (asked && asked());
  };
  const bool is_open = loop.post(
      [=](Engine& engine) { made->set_value(guarded([&] { return call(engine, options); })); });
  if (!is_open) return is_closed();
  if (!loop.has_thread()) loop.turn(false);
  return result.get();
}

}  // namespace tokamak
