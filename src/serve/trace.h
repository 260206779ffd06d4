// Trace: what the engines of a server did, and when, as trace events in JSON, which Perfetto and
// chrome://tracing show: a row of steps and the number of requests for each model, and every
// request with its time in the queue, in its prompt and in decoding. No text is in it.
// Source: "Trace Event Format" of the Chromium project.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "generate/schedule/scheduler.h"

namespace tokamak::serve {

class Trace {
 public:
  /// Appends to the file; false where that failed. One thread at a time calls it.
  using Write = std::function<bool(std::string_view)>;

  /// `clock`: that of the schedulers; any thread may ask it. `failed` is called once when no more
  /// is written.
  Trace(Write write, Clock clock, std::function<void()> failed);

  /// For the scheduler of that model; what it gets goes to `next` first. The trace outlives it.
  SchedulerObserver observer(std::string_view model, SchedulerObserver next);
  /// Requests of the model that run and wait, where that has changed. Any thread may call it.
  void count(std::string_view model, uint32_t running, uint32_t waiting);

 private:
  struct Row {
    uint32_t number = 0;  // "tid" of the format
    std::pair<uint32_t, uint32_t> counted = {0, 0};
  };
  /// REQUIRES: the mutex is held.
  Row& row_of(std::string_view model);
  void add(const Json& event);
  void add_steps(std::string_view model, const StepsRun& run);
  void finished(std::string_view model, const Generation& generation, double queue_seconds);

  std::mutex mutex_;
  Write write_;
  Clock clock_;
  std::function<void()> failed_;
  double start_;
  bool is_empty_ = true, has_failed_ = false;
  uint64_t requests_ = 0;
  std::map<std::string, Row, std::less<>> rows_;
};

}  // namespace tokamak::serve
