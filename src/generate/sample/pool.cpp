#include "generate/sample/pool.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace tokamak {
namespace {

constexpr float kRemoved = -std::numeric_limits<float>::infinity();

/// Probabilities, rounded to f32 where transformers rounds: its thresholds are compared with these.
struct Rounded {
  std::vector<float> probs;
  float log_sum;  // log of the sum of exp(score - largest score)
};
Rounded softmax_f32(const Pool& pool) {
  const float best = largest_score(pool);
  std::vector<float> probs(pool.size());
  double sum = 0;
  for (size_t i = 0; i < pool.size(); ++i) {
    probs[i] = float(std::exp(double(pool[i].score - best)));
    sum += double(probs[i]);
  }
  for (float& prob : probs) prob /= float(sum);
  return {std::move(probs), float(std::log(sum))};
}

}  // namespace

float largest_score(const Pool& pool) {
  return std::ranges::max(pool, {}, &Scored::score).score;
}

float penalized(float score, float penalty) {
  constexpr float kMax = std::numeric_limits<float>::max();
  if (!std::isfinite(score)) return score;
  return std::clamp(score < 0 ? score * penalty : score / penalty, -kMax, kMax);
}

float temperature_divisor(double temperature) {
  return std::max(float(temperature), std::numeric_limits<float>::min());
}

void apply_temperature(Pool& pool, double temperature) {
  const float divisor = temperature_divisor(temperature);
  float best = kRemoved;
  for (const Scored& token : pool) best = std::max(best, token.score);
  if (!std::isfinite(best / divisor)) {
    std::erase_if(pool, [&](const Scored& token) { return token.score != best; });
    for (Scored& token : pool) token.score = 0;
    return;
  }
  for (Scored& token : pool) token.score /= divisor;
  std::erase_if(pool, [](const Scored& token) { return token.score == kRemoved; });
}

void keep_top_k(Pool& pool, uint32_t k) {
  if (k >= pool.size()) return;
  std::vector<float> scores(pool.size());
  std::ranges::transform(pool, scores.begin(), &Scored::score);
  std::ranges::nth_element(scores, scores.begin() + std::ptrdiff_t(k - 1), std::greater());
  const float threshold = scores[k - 1];
  std::erase_if(pool, [&](const Scored& token) { return token.score < threshold; });
}

std::vector<double> softmax(const Pool& pool) {
  const double best = double(largest_score(pool));
  std::vector<double> probs(pool.size());
  double sum = 0;
  for (size_t i = 0; i < pool.size(); ++i) sum += probs[i] = std::exp(double(pool[i].score) - best);
  for (double& prob : probs) prob /= sum;
  return probs;
}

void keep_top_p(Pool& pool, double p) {
  const std::vector<float> probs = softmax_f32(pool).probs;
  const float tail = float(1.0 - p);
  // Tokens below tail / n cannot sum up to the tail, so none of them needs to be sorted.
  const double certain = double(tail) / double(pool.size()) * 0.999;
  double sum = 0;
  std::vector<uint32_t> order;
  std::vector<bool> removed(pool.size());
  for (uint32_t i = 0; i < pool.size(); ++i) {
    if (double(probs[i]) < certain) {
      sum += double(probs[i]);
      removed[i] = true;
    } else {
      order.push_back(i);
    }
  }
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    return pool[a].score != pool[b].score ? pool[a].score < pool[b].score : a < b;
  });
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    sum += double(probs[order[i]]);
    if (float(sum) > tail) break;
    removed[order[i]] = true;
  }
  size_t at = 0;
  std::erase_if(pool, [&](const Scored&) { return removed[at++]; });
}

float part_of_largest(float score, float largest) {
  return float(std::exp(double(score - largest)));
}

void keep_min_p(Pool& pool, double p) {
  const float best = largest_score(pool);
  std::erase_if(pool,
                [&](const Scored& token) { return part_of_largest(token.score, best) < float(p); });
}

void keep_typical(Pool& pool, double p) {
  const Rounded rounded = softmax_f32(pool);
  const float best = largest_score(pool);
  const auto information = [&](size_t i) { return rounded.log_sum - (pool[i].score - best); };
  double entropy = 0;
  for (size_t i = 0; i < pool.size(); ++i) {
    entropy += double(rounded.probs[i]) * double(information(i));
  }
  struct Typical {
    float distance;
    float prob;
  };
  std::vector<Typical> order;
  std::vector<float> distances;
  for (size_t i = 0; i < pool.size(); ++i) {
    distances.push_back(std::abs(information(i) - float(entropy)));
    order.push_back({distances.back(), rounded.probs[i]});
  }
  std::ranges::sort(order, {}, &Typical::distance);
  double sum = 0;
  size_t last = 0;
  for (; last + 1 < order.size(); ++last) {
    sum += double(order[last].prob);
    if (!(float(sum) < float(p))) break;
  }
  const float threshold = order[last].distance;
  size_t at = 0;
  std::erase_if(pool, [&](const Scored&) { return distances[at++] > threshold; });
}

uint32_t token_at(const Pool& pool, double drawn) {
  const std::vector<double> probs = softmax(pool);
  std::vector<uint32_t> order(pool.size());
  std::iota(order.begin(), order.end(), 0u);
  double sum = 0;
  uint32_t last_possible = 0;
  for (size_t i = 0, sorted = 0; i < order.size(); ++i) {
    if (i == sorted) {  // few are asked for, mostly
      sorted = std::min(order.size(), std::max<size_t>(256, 8 * i));
      std::partial_sort(order.begin() + std::ptrdiff_t(i), order.begin() + std::ptrdiff_t(sorted),
                        order.end(), [&](uint32_t a, uint32_t b) {
                          const float one = pool[a].score, other = pool[b].score;
                          return one != other ? one > other : a < b;
                        });
    }
    if (probs[order[i]] <= 0) break;
    last_possible = order[i];
    sum += probs[order[i]];
    if (drawn < sum) break;
  }
  return pool[last_possible].id;  // the last one when rounding leaves the sum below 1
}

}  // namespace tokamak
