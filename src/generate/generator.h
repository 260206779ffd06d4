// Generation: prefill, then one token after another, sampled, decoded and streamed as text.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/sampler.h"
#include "generate/session.h"
#include "text/grammar/grammar.h"
#include "text/tokenizer/tokenizer.h"

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

/// Continues `prompt`, the whole sequence from its start, on `session`: what the session holds of
/// it does not run again (Session::keep_prefix). Cancelling is no error: what there is comes back.
/// Errors: a prompt that does not fit, parameters out of range, logits that are no numbers, a
/// grammar that no token follows, the device's.
Result<Generation> generate(Session& session, const Tokenizer& tokenizer,
                            std::span<const uint32_t> prompt, const GenerationParams& params,
                            const GenerationCallbacks& callbacks, const Clock& clock);

}  // namespace tokamak
