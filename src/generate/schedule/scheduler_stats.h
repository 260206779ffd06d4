// The figures of a scheduler's work.
#pragma once
#include <cstdint>
#include <functional>

#include "tokamak/generation.h"

namespace tokamak {

struct SchedulerStats {
  uint64_t steps = 0, prefill_steps = 0;  // submitted
  uint64_t prefill_tokens = 0;            // that ran
  uint64_t cached_tokens = 0;             // of prompts, that did not
  uint64_t decoded_tokens = 0;            // that were taken
  uint64_t forced_tokens = 0;             // of them, those that a grammar left no choice for
  uint64_t listed_tokens = 0;             // of those, drawn from a list of the device
  uint64_t discarded_tokens = 0;          // that the device made ahead for nothing
  uint64_t drafts = 0, drafted_tokens = 0, accepted_tokens = 0;  // that were verified; came true
  uint64_t preemptions = 0, device_losses = 0;
  uint32_t prefill_budget = 0;        // tokens of prompts between two steps that decode, now
  uint32_t waiting = 0, running = 0;  // now
  uint32_t pages = 0, free_pages = 0, cached_pages = 0;  // of layers that see everything
  uint32_t idle_pages = 0;                               // cached ones that no request uses

  /// Adds what others counted that `/metrics` shows, but not how things are now.
  void add_counts(const SchedulerStats& others) {
    drafts += others.drafts;
    drafted_tokens += others.drafted_tokens;
    accepted_tokens += others.accepted_tokens;
    preemptions += others.preemptions;
    device_losses += others.device_losses;
  }
};

/// Steps that ran one after the other.
struct StepsRun {
  uint32_t steps = 1, tokens = 0;  // of each
  double seconds = 0;              // all of them, on the device
  double end = 0;                  // when the last had ended, by the scheduler's clock
  bool is_prefill = false;
};

/// The events of step(), for metrics. None of them may call the scheduler.
struct SchedulerObserver {
  /// A token came; `seconds`: since the one before, of the first one since the request was added.
  std::function<void(double seconds, bool is_first)> token;
  std::function<void(const StepsRun&)> steps;
  /// A request ended otherwise than by an error; `seconds`: until it was given its slot.
  std::function<void(const Generation&, double seconds, bool repeats_prompt)> finished;
};

}  // namespace tokamak
