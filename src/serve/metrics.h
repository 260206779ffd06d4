// Metrics: what has been counted, as Prometheus reads it. Any thread may count and ask.
#pragma once
#include <map>
#include <mutex>
#include <string>

#include "generate/schedule/scheduler.h"
#include "serve/histogram.h"

namespace tokamak::serve {

/// The counts of one model.
struct ModelCounters {
  ModelCounters();

  std::map<std::string, uint64_t, std::less<>> successes;  // by why they ended
  uint64_t prompt_tokens = 0, cached_tokens = 0, generated_tokens = 0, cancelled = 0;
  uint64_t link_bytes = 0;  // that each device took from the others
  Histogram first_token, next_token, whole, queue, prefill, decode;
  Histogram prompts, generations, step_tokens, prefill_steps, decode_steps;
};

class ModelMetrics {
 public:
  /// The observer of a scheduler's work.
  SchedulerObserver observer();
  /// Counts from now on what a device takes from the others for each row of a step.
  void count_links(uint64_t bytes);
  /// An answer is whole; it is counted where the scheduler has just finished the last part of it.
  void succeeded();
  void cancelled();

  ModelCounters counters() const;

 private:
  void token(double seconds, bool is_first);
  void add(const StepsRun& run);
  void finished(const Generation& generation, double queue_seconds, bool repeats_prompt);

  mutable std::mutex mutex_;
  ModelCounters counters_;
  uint64_t link_bytes_ = 0;  // of a row
  std::string last_finish_;
};

/// A model at the time of a scrape.
struct ModelSample {
  std::string name;
  ModelCounters counters;
  SchedulerStats stats;  // all 0 where it is not loaded, but for what is counted
  bool is_loaded = false, is_loading = false;
  uint64_t loads = 0;
  std::vector<std::string> adapters = {};     // that requests may name
  std::vector<DeviceMemoryUse> devices = {};  // where it is loaded
  int64_t changed = 0;                        // when it was loaded or unloaded last, by Unix' clock
};

/// The counts of the server as a whole, on its thread.
class HttpMetrics {
 public:
  /// `path` is a label: one of few, whatever strangers ask for.
  void answered(std::string_view path, int status);

  /// The text format 0.0.4.
  std::string text(std::span<const ModelSample> models, size_t connections) const;

 private:
  std::map<std::pair<std::string, int>, uint64_t> answers_;  // by path and status
};

}  // namespace tokamak::serve
