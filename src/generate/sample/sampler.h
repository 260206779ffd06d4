// From logits to one token: the sampling rules of Hugging Face transformers, in its order
//
//   bias, repetition, presence and frequency penalties, temperature, top-k, top-p, min-p, typical-p
//
// (bias and the penalties of presence and frequency are OpenAI's) with its ties and thresholds
// (transformers/generation/logits_process.py), then an exact, seeded choice among the tokens in the
// order of their probability: the same seed gives the same tokens on every platform.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tokamak/generation.h"

namespace tokamak {

/// Doubles, because transformers forms 1 - top_p in double: thresholds then agree to the last bit.
struct SamplingParams {
  double temperature = 1.0;         // 0: the most probable token, nothing is drawn
  uint32_t top_k = 0;               // 0: off
  double top_p = 1.0;               // 1: off
  double min_p = 0.0;               // 0: off
  double typical_p = 1.0;           // 1: off
  double repetition_penalty = 1.0;  // 1: off; above 1 makes tokens that occurred less likely
  std::optional<uint64_t> seed;     // unset: an Engine takes a new one each time, others take 0

  double presence_penalty = 0.0;   // off the scores of tokens that were generated
  double frequency_penalty = 0.0;  // the same, for every time
  std::vector<std::pair<uint32_t, float>> logit_bias = {};  // by token; added before all else
  uint32_t min_tokens = 0;              // until that many are generated, none of late_ids comes,
  std::vector<uint32_t> late_ids = {};  // where any other token can

  /// Whether one of the last four does something.
  bool changes_scores() const;

  /// An error names the parameter, its value and the allowed range.
  Result<void> validate() const;
};

/// The score of a token that was generated `count` times, at least once. OpenAI's rule: less
/// count * frequency + presence.
float less_presence(float score, uint32_t count, const SamplingParams& params);

/// The tokens that may follow and their probabilities, which sum to 1; ids ascend.
struct Candidates {
  std::vector<uint32_t> ids;
  std::vector<float> probs;
};

/// logits: [vocab]. With temperature 0 the one candidate is the greedy token. The last `generated`
/// of the previous ids are those that were generated.
/// Errors: parameters out of range, no logits, previous ids beyond the vocabulary, logits of which
/// none is a finite number or one is +infinity. NaN and -infinity never survive.
Result<Candidates> sample_distribution(std::span<const float> logits,
                                       std::span<const uint32_t> previous_ids,
                                       const SamplingParams& params, uint64_t generated = 0);

/// The index of the largest logit; the lowest among equals; NaN never wins. Errors as above.
Result<uint32_t> greedy_token(std::span<const float> logits);

/// log_softmax of the logits as they are, before any rule; at most `top_n` entries in `top`.
Result<Logprobs> logprobs(std::span<const float> logits, uint32_t id, uint32_t top_n);

/// Whether a token may follow.
using TokenTest = std::function<bool(uint32_t id)>;

/// Draws one token after another. Not for use by two threads at once.
class Sampler {
 public:
  /// Checks the parameters.
  static Result<Sampler> make(const SamplingParams& params);

  /// The next token. `step` counts the generated tokens, which end the previous ids.
  Result<uint32_t> next(std::span<const float> logits, std::span<const uint32_t> previous_ids,
                        uint64_t step);

  /// The same token from a list that the device made of these logits, by inverse_temperature() of
  /// token_list.h; none where the list cannot tell: next() has to say, and nothing was drawn.
  /// `step`: as for next(). `allows`: where given, other tokens are as if their logits were
  /// -infinity.
  std::optional<uint32_t> next_of_list(std::span<const float> list,
                                       std::span<const uint32_t> previous_ids, uint64_t step,
                                       const TokenTest& allows = {});

  const SamplingParams& params() const { return params_; }
  /// The state of splitmix64 (base/splitmix.h) before the next draw.
  uint64_t random_state() const { return state_; }

 private:
  explicit Sampler(const SamplingParams& params)
      : params_(params), state_(params.seed.value_or(0)) {}

  SamplingParams params_;
  uint64_t state_;
};

}  // namespace tokamak
