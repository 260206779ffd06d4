// Metrics: what has been counted, as Prometheus reads it. Any thread may count and ask.
#pragma once
#include <map>
#include <mutex>
#include <string>

#include "generate/scheduler.h"
#include "serve/histogram.h"
#include "serve/http/server.h"

namespace tokamak::serve {

class Metrics {
 public:
  Metrics();

  /// What a scheduler tells of its work.
  SchedulerObserver observer();
  /// An answer is whole; it is counted where the scheduler has just finished the last part of it.
  void succeeded();
  void cancelled();
  void answered(const Answered& answered);
  /// What the model is called from here on.
  void name_model(std::string model);

  /// `stats`: the scheduler's, now. The text format 0.0.4.
  std::string text(const SchedulerStats& stats, size_t connections) const;

 private:
  void token(double seconds, bool is_first);
  void step(uint32_t tokens, double seconds, bool is_prefill);
  void finished(const Generation& generation, double queue_seconds);

  mutable std::mutex mutex_;
  std::string model_;
  std::map<std::pair<std::string, int>, uint64_t> answers_;  // by path and status
  std::map<std::string, uint64_t, std::less<>> successes_;   // by why they ended
  std::string last_finish_;
  uint64_t prompt_tokens_ = 0, cached_tokens_ = 0, generated_tokens_ = 0, cancelled_ = 0;
  Histogram first_token_, next_token_, whole_, queue_, prefill_, decode_;
  Histogram prompts_, generations_, step_tokens_, prefill_steps_, decode_steps_;
};

}  // namespace tokamak::serve
