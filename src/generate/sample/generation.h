// The parameters of a generation; tokamak/generation.h has its result.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generate/sample/sampler.h"
#include "text/grammar/grammar.h"
#include "tokamak/generation.h"

namespace tokamak {

struct GenerationParams {
  SamplingParams sampling;
  uint32_t max_tokens = 128;
  std::vector<std::string> stop;
  /// Generation ends at any of these; they are not shown. Unset: the model's own, which an Engine
  /// knows; without an Engine none.
  std::optional<std::vector<uint32_t>> end_ids;
  uint32_t top_logprobs = 0;
  bool logprobs = false;
  bool prompt_logprobs = false;            // Generation::prompt_logprobs
  std::shared_ptr<const Grammar> grammar;  // only its texts are generated; null: any
  /// Whether Generation::text is made of the ids: who makes his own needs none. Stop strings and
  /// GenerationCallbacks::text need it.
  bool has_text = true;
};

/// Whether every token is simply the most probable one, and nothing else of it is asked for.
bool is_plain_greedy(const GenerationParams& params);

struct GenerationCallbacks {
  std::function<void(std::string_view)> text;               // final, whole characters
  std::function<void(uint32_t id, const Logprobs*)> token;  // logprobs: null unless asked for
  std::function<bool()> cancelled;                          // asked before every step
  /// Receives those of all tokens of the prompt but the first, before the first token; not where
  /// there are none.
  std::function<void(std::span<const Logprobs>)> prompt_logprobs;
};

/// Seconds from any fixed point; given by the caller because the core has no clock of its own.
using Clock = std::function<double()>;

}  // namespace tokamak
