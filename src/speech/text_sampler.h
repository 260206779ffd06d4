// TextSampler: chooses the tokens of what a model hears, and keeps how sure it was of them.
#pragma once
#include <span>
#include <vector>

#include "base/check.h"
#include "generate/sample/sampler.h"

namespace tokamak {

class TextSampler {
 public:
  static Result<TextSampler> make(double temperature, uint64_t seed) {
    TOK_TRY(Sampler sampler, Sampler::make({.temperature = temperature, .seed = seed}));
    return TextSampler(std::move(sampler));
  }

  /// The token after `written`.
  Result<uint32_t> next(std::vector<float> logits, const std::vector<uint32_t>& written) {
    settle();
    logits_ = std::move(logits);
    TOK_TRY(last_, sampler_.next(logits_, written, count_));
    ++count_;
    is_settled_ = false;
    return last_;
  }
  /// Finds out how sure the last choice was: work for while the device makes the next logits.
  void settle() {
    if (is_settled_) return;
    const Result<Logprobs> own = logprobs(logits_, last_, 0);
    TOK_CHECK(own.has_value());  // next() has looked at these logits
    sum_ += double(own->chosen.logprob);
    is_settled_ = true;
  }
  /// The mean over all that it gave; 0 before the first.
  double average_log_prob() {
    settle();
    return count_ == 0 ? 0 : sum_ / double(count_);
  }

 private:
  explicit TextSampler(Sampler sampler) : sampler_(std::move(sampler)) {}

  Sampler sampler_;
  std::vector<float> logits_;  // of the last choice
  uint32_t last_ = 0;
  bool is_settled_ = true;  // whether the sum has it
  double sum_ = 0;
  size_t count_ = 0;
};

}  // namespace tokamak
