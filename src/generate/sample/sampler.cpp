#include "generate/sample/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/log_sum_exp.h"
#include "base/splitmix.h"
#include "generate/sample/pool.h"
#include "generate/sample/sampling_numbers.h"
#include "generate/sample/token_list.h"

namespace tokamak {
namespace {

constexpr float kRemoved = -std::numeric_limits<float>::infinity();

Result<void> check_logits(std::span<const float> logits) {
  size_t finite = 0;
  size_t infinite = 0;
  for (const float logit : logits) {
    finite += std::isfinite(logit);
    infinite += logit == std::numeric_limits<float>::infinity();
  }
  if (logits.empty()) return invalid_input("There are no logits to choose a token from.");
  if (finite == 0 || infinite != 0) {
    return invalid_input(
        "The logits are not numbers: {} of {} are NaN or infinite; the weights of the model may be "
        "damaged.",
        logits.size() - finite, logits.size());
  }
  return {};
}

Result<void> check_ids(std::span<const uint32_t> ids, size_t vocab) {
  for (const uint32_t id : ids) {
    if (id < vocab) continue;
    return invalid_input("Token id {} is outside the vocabulary of {} tokens.", id, vocab);
  }
  return {};
}

/// score < 0 ? score * penalty : score / penalty, once for every token that occurred.
void penalize_repetition(std::span<float> scores, std::span<const uint32_t> previous_ids,
                         float penalty) {
  std::vector<uint32_t> ids(previous_ids.begin(), previous_ids.end());
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  for (const uint32_t id : ids) scores[id] = penalized(scores[id], penalty);
}

void penalize_presence(std::span<float> scores, std::span<const uint32_t> generated,
                       const SamplingParams& params) {
  std::vector<uint32_t> ids(generated.begin(), generated.end());
  std::ranges::sort(ids);
  for (auto first = ids.begin(); first != ids.end();) {
    const auto last = std::upper_bound(first, ids.end(), *first);
    scores[*first] = less_presence(scores[*first], uint32_t(last - first), params);
    first = last;
  }
}

/// Unless nothing else is left.
void remove_late(std::span<float> scores, std::span<const uint32_t> late_ids) {
  std::vector<std::pair<uint32_t, float>> removed;
  for (const uint32_t id : late_ids) {
    removed.emplace_back(id, std::exchange(scores[id], kRemoved));
  }
  if (std::ranges::any_of(scores, [](float score) { return score > kRemoved; })) return;
  for (const auto& [id, score] : removed) {
    if (score > kRemoved) scores[id] = score;
  }
}

/// In [0, 1), exact.
double uniform_from(uint64_t& state) {
  return double(next_random(state) >> 11) * 0x1p-53;
}

uint32_t argmax(std::span<const float> scores) {
  uint32_t best = 0;
  float largest = kRemoved;
  for (uint32_t id = 0; id < scores.size(); ++id) {
    if (scores[id] > largest) {
      largest = scores[id];
      best = id;
    }
  }
  return best;
}

/// The tokens that are left after all rules; never empty.
Result<Pool> surviving(std::span<const float> logits, std::span<const uint32_t> previous_ids,
                       const SamplingParams& params, uint64_t generated) {
  TOK_TRY(check_logits(logits));
  TOK_TRY(check_ids(previous_ids, logits.size()));
  TOK_TRY(check_ids(params.late_ids, logits.size()));
  std::vector<float> scores(logits.begin(), logits.end());
  for (const auto& [id, bias] : params.logit_bias) {
    TOK_TRY(check_ids({&id, 1}, logits.size()));
    scores[id] += bias;
  }
  if (params.repetition_penalty != 1.0) {
    penalize_repetition(scores, previous_ids, float(params.repetition_penalty));
  }
  if (params.presence_penalty != 0 || params.frequency_penalty != 0) {
    penalize_presence(scores,
                      previous_ids.last(size_t(std::min(generated, uint64_t(previous_ids.size())))),
                      params);
  }
  if (generated < params.min_tokens) remove_late(scores, params.late_ids);
  if (params.temperature == 0) return Pool{{argmax(scores), 0.0f}};
  Pool pool;
  pool.reserve(scores.size());
  for (uint32_t id = 0; id < scores.size(); ++id) {
    if (scores[id] > kRemoved) pool.push_back({id, scores[id]});
  }
  apply_temperature(pool, params.temperature);
  if (params.top_k != 0) keep_top_k(pool, params.top_k);
  if (params.top_p < 1) keep_top_p(pool, params.top_p);
  if (params.min_p > 0) keep_min_p(pool, params.min_p);
  if (params.typical_p < 1) keep_typical(pool, params.typical_p);
  TOK_CHECK(!pool.empty());
  return pool;
}

}  // namespace

float less_presence(float score, uint32_t count, const SamplingParams& params) {
  const double penalty = params.presence_penalty + params.frequency_penalty * double(count);
  return float(double(score) - penalty);
}

Result<void> SamplingParams::validate() const {
  for (const SamplingNumber& number : sampling_numbers()) {
    const double value = this->*number.member;
    if (number.takes(value)) continue;
    return invalid_input("{} is {}; it must be {}.", number.title, value, number.range());
  }
  for (const auto& [id, bias] : logit_bias) {
    if (bias >= -100 && bias <= 100) continue;
    return invalid_input("The bias of token {} is {}; it must be from -100 to 100.", id, bias);
  }
  return {};
}

bool SamplingParams::changes_scores() const {
  return presence_penalty != 0 || frequency_penalty != 0 || !logit_bias.empty() || min_tokens > 0;
}

Result<Candidates> sample_distribution(std::span<const float> logits,
                                       std::span<const uint32_t> previous_ids,
                                       const SamplingParams& params, uint64_t generated) {
  TOK_TRY(params.validate());
  TOK_TRY(const Pool pool, surviving(logits, previous_ids, params, generated));
  Candidates candidates;
  for (const Scored& token : pool) candidates.ids.push_back(token.id);
  for (const double prob : softmax(pool)) candidates.probs.push_back(float(prob));
  return candidates;
}

Result<uint32_t> greedy_token(std::span<const float> logits) {
  TOK_TRY(check_logits(logits));
  return argmax(logits);
}

Result<Logprobs> logprobs(std::span<const float> logits, uint32_t id, uint32_t top_n) {
  TOK_TRY(check_logits(logits));
  if (id >= logits.size()) {
    return invalid_input("Token id {} is outside the vocabulary of {} tokens.", id, logits.size());
  }
  const double log_sum = log_sum_exp(logits);
  const auto logprob = [&](uint32_t token) {
    const float logit = logits[token];
    return TokenLogprob{token, std::isnan(logit) ? kRemoved : float(double(logit) - log_sum)};
  };
  Logprobs result{.chosen = logprob(id)};
  if (top_n == 0) return result;
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < logits.size(); ++i) {
    if (std::isfinite(logits[i])) order.push_back(i);
  }
  const auto end = order.begin() + ptrdiff_t(std::min(size_t{top_n}, order.size()));
  std::ranges::partial_sort(order, end, [&](uint32_t a, uint32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  for (auto token = order.begin(); token != end; ++token) result.top.push_back(logprob(*token));
  return result;
}

Result<Sampler> Sampler::make(const SamplingParams& params) {
  TOK_TRY(params.validate());
  return Sampler(params);
}

Result<uint32_t> Sampler::next(std::span<const float> logits,
                               std::span<const uint32_t> previous_ids, uint64_t step) {
  const auto pool = surviving(logits, previous_ids, params_, step);
  if (!pool) return Failure(pool.error().within(fmt::format("Generation step {}", step)));
  if (params_.temperature == 0) return pool->front().id;
  // One number is drawn at every step, also when only one token is left, so that the sequence does
  // not depend on how many survive.
  return token_at(*pool, uniform_from(state_));
}

std::optional<uint32_t> Sampler::next_of_list(std::span<const float> list,
                                              std::span<const uint32_t> previous_ids, uint64_t step,
                                              const TokenTest& allows) {
  uint64_t state = state_;
  const double drawn = params_.temperature == 0 ? 0 : uniform_from(state);
  const std::optional<uint32_t> id =
      token_of_list(list, previous_ids, params_, step, drawn, allows);
  if (id) state_ = state;
  return id;
}

}  // namespace tokamak
