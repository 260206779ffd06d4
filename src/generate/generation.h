// What a generation is asked for, and what comes of it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/sampler.h"
#include "text/grammar/grammar.h"

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
  std::shared_ptr<const Grammar> grammar;  // only its texts are generated; null: any
};

/// Whether every token is simply the most probable one, and nothing else of it is asked for.
bool is_plain_greedy(const GenerationParams& params);

struct GenerationCallbacks {
  std::function<void(std::string_view)> text;               // final, whole characters
  std::function<void(uint32_t id, const Logprobs*)> token;  // logprobs: null unless asked for
  std::function<bool()> cancelled;                          // asked before every step
};

enum class FinishReason : uint8_t {
  kEndToken,
  kStopString,
  kMaxTokens,
  kContextFull,
  kCancelled,
  kGrammar,  // it lets nothing follow
};
std::string_view finish_name(FinishReason reason);

struct Generation {
  std::string text;
  std::vector<uint32_t> ids;  // generated ones, the end token included
  FinishReason finish = FinishReason::kMaxTokens;
  std::string stop;   // the stop string that was met
  uint64_t seed = 0;  // that chance started from: with it in the parameters, the same text again
  size_t prompt_tokens = 0;
  size_t cached_tokens = 0;    // of the prompt: the session held them, they did not run again
  double prefill_seconds = 0;  // until the first token is chosen
  double decode_seconds = 0;   // the rest
};

/// Seconds from any fixed point; given by the caller because the core has no clock of its own.
using Clock = std::function<double()>;

}  // namespace tokamak
