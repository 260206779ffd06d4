// TextSampler: chooses the tokens of what a model hears, and keeps how sure it was of them.
#pragma once
#include <span>
#include <vector>

#include "generate/sampler.h"

namespace tokamak {

class TextSampler {
 public:
  static Result<TextSampler> make(double temperature, uint64_t seed) {
    TOK_TRY(Sampler sampler, Sampler::make({.temperature = temperature, .seed = seed}));
    return TextSampler(std::move(sampler));
  }

  /// The token after `written`.
  Result<uint32_t> next(std::span<const float> logits, const std::vector<uint32_t>& written) {
    TOK_TRY(const uint32_t id, sampler_.next(logits, written, count_));
    TOK_TRY(const Logprobs own, logprobs(logits, id, 0));
    sum_ += double(own.chosen.logprob);
    ++count_;
    return id;
  }
  /// The mean over all that it gave; 0 before the first.
  double average_log_prob() const { return count_ == 0 ? 0 : sum_ / double(count_); }

 private:
  explicit TextSampler(Sampler sampler) : sampler_(std::move(sampler)) {}

  Sampler sampler_;
  double sum_ = 0;
  size_t count_ = 0;
};

}  // namespace tokamak
