// The result of a request for text.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak {

enum class FinishReason : uint8_t {
  kEndToken,
  kStopString,
  kMaxTokens,
  kContextFull,
  kCancelled,  // by the caller, by its deadline, or since the model was closed
  kGrammar,    // it lets nothing follow
};
/// "end", "stop", "length", "context", "cancelled", "grammar".
std::string_view finish_name(FinishReason reason);

struct TokenLogprob {
  uint32_t id = 0;
  float logprob = 0.0f;
};

/// Natural logarithms of probabilities, of the model's own before any rule of sampling.
struct Logprobs {
  TokenLogprob chosen;
  std::vector<TokenLogprob> top;  // best first; the lower id first among equals
};

struct Generation {
  std::string text;
  std::string reasoning;      // before the text, where TextRequest::separate_reasoning asks for it
  std::vector<uint32_t> ids;  // generated ones, the end token included
  FinishReason finish = FinishReason::kMaxTokens;
  std::string stop;  // the stop string that was met
  /// Those of the prompt's tokens but the first, where they were asked for.
  std::vector<Logprobs> prompt_logprobs;
  uint64_t seed = 0;  // that chance started from: with it in the request, the same text again
  size_t prompt_tokens = 0;
  size_t cached_tokens = 0;    // of the prompt: the cache held them, they did not run again
  double prefill_seconds = 0;  // until the first token is chosen
  double decode_seconds = 0;   // the rest
};

}  // namespace tokamak
