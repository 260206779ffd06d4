#include "generate/sample/token_list.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "generate/sample/pool.h"

namespace tokamak {
namespace {

/// Logits that do not count for the device are so far below this that they have no probability.
constexpr float kFarDown = -1e30f;

/// The known facts of the tokens that survive.
struct Known {
  Pool pool;
  double listed = 0;        // of exp(score - largest) over the list as the device made it
  float largest = 0;        // the best score of that
  size_t unlisted = 0;      // of the others, those that lost something by penalties and biases
  bool is_whole = false;    // no token but these survives
  float bound = 0;          // else: the others have scores of at most this
  double sum = 0;           // of exp(score - largest) over all tokens before any was removed
  double slack = 0;         // a share of that sum may be wrong by so much
  bool is_thinned = false;  // some of the others may have been removed: their sum is not known

  double weight(uint32_t i, float best) const {
    return std::exp(double(pool[i].score) - double(best));
  }
  /// Places in the pool, most probable first; of equals the lowest ids first, or the highest.
  std::vector<uint32_t> order(bool lowest_first) const {
    std::vector<uint32_t> places(pool.size());
    std::iota(places.begin(), places.end(), 0u);
    std::ranges::sort(places, [&](uint32_t a, uint32_t b) {
      if (pool[a].score != pool[b].score) return pool[a].score > pool[b].score;
      return lowest_first ? a < b : a > b;
    });
    return places;
  }
};

std::optional<Known> read_list(std::span<const float> list) {
  Known known;
  const size_t pairs = list.size() / 2;
  for (size_t i = 0; i < pairs && list[2 * i + 1] >= 0; ++i) {
    known.pool.push_back({uint32_t(list[2 * i + 1]), list[2 * i]});
  }
  known.sum = double(list.back());
  // All logits say best what is wrong with them.
  if (known.pool.empty() || known.sum < 0 || known.pool.front().score < kFarDown) return {};
  known.is_whole = known.pool.size() < kTopK;
  known.bound = known.pool.back().score;
  known.largest = known.pool.front().score;
  std::ranges::sort(known.pool, {}, &Scored::id);
  return known;
}

/// Calls `visit` with every different id and how often it is there.
template <typename Visit>
void for_each_id(std::span<const uint32_t> ids, const Visit& visit) {
  if (ids.empty()) return;
  std::vector<uint32_t> counts(size_t{std::ranges::max(ids)} + 1);
  for (const uint32_t id : ids) ++counts[id];
  for (const uint32_t id : ids) {
    if (const uint32_t count = std::exchange(counts[id], 0)) visit(id, count);
  }
}

/// Changes the scores by what was chosen before, as Sampler does those of all tokens. False where a
/// token that is not listed may have more then.
bool adjust(Known& known, std::span<const uint32_t> previous_ids, uint64_t generated,
            const SamplingParams& params) {
  const auto listed = [&](uint32_t id) -> Scored* {
    const auto found = std::ranges::lower_bound(known.pool, id, {}, &Scored::id);
    if (found != known.pool.end() && found->id == id) return &*found;
    ++known.unlisted;
    return nullptr;
  };
  for (const auto& [id, bias] : params.logit_bias) {
    Scored* token = listed(id);
    if (token == nullptr && bias > 0 && !known.is_whole) return false;
    if (token != nullptr) token->score += bias;
  }
  if (params.repetition_penalty != 1) {
    if (params.repetition_penalty < 1 && !known.is_whole) return false;
    for_each_id(previous_ids, [&](uint32_t id, uint32_t) {
      if (Scored* token = listed(id)) {
        token->score = penalized(token->score, float(params.repetition_penalty));
      }
    });
  }
  if (params.presence_penalty != 0 || params.frequency_penalty != 0) {
    if (std::min(params.presence_penalty, params.frequency_penalty) < 0 && !known.is_whole) {
      return false;
    }
    const auto own = previous_ids.last(size_t(std::min<uint64_t>(generated, previous_ids.size())));
    for_each_id(own, [&](uint32_t id, uint32_t count) {
      if (Scored* token = listed(id)) {
        token->score = less_presence(token->score, count, params);
      }
    });
  }
  if (generated < params.min_tokens) {
    known.unlisted += params.late_ids.size();
    std::erase_if(known.pool, [&](const Scored& token) {
      return std::ranges::find(params.late_ids, token.id) != params.late_ids.end();
    });
  }
  return !known.pool.empty();
}

bool divide(Known& known, double temperature) {
  const float best = largest_score(known.pool);
  if (!known.is_whole && known.bound >= best) return false;
  if (!std::isfinite(best / temperature_divisor(temperature))) known.is_whole = true;
  apply_temperature(known.pool, temperature);
  known.bound /= temperature_divisor(temperature);
  // The device multiplies where the host divides and rounds what it divides, and both round sums
  // and exponentials: units in the last place of the largest score, of what else has a weight (up
  // to some 30 below), and of sums in three levels.
  known.slack = (std::abs(double(best / temperature_divisor(temperature))) + 160) * 0x1p-23 + 1e-6;
  return true;
}

/// After divide(), where scores were adjusted: the sum that the tokens have now. The others have
/// what the device has added up beside the list, or, those that lost something, less.
void correct_sum(Known& known, double temperature) {
  const double divisor = double(temperature_divisor(temperature));
  const float best = largest_score(known.pool);
  const double scale = std::exp(double(known.largest) / divisor - double(best));
  const double others = std::max(known.sum - known.listed, 0.0) * scale;
  const double most = std::exp(double(known.bound) - double(best)) * double(known.unlisted);
  double own = 0;
  for (uint32_t i = 0; i < known.pool.size(); ++i) own += known.weight(i, best);
  const double sum = others + own;
  known.slack = (known.slack * known.sum * scale + std::min(others, most)) / sum + known.slack;
  known.sum = sum;
}

bool top_k(Known& known, uint32_t k) {
  keep_top_k(known.pool, k);
  if (known.is_whole) return true;
  known.is_whole = std::ranges::min(known.pool, {}, &Scored::score).score > known.bound;
  return known.is_whole;
}

/// A token survives when what is more probable has less than p together. Of equals the highest id
/// counts as the most probable one: a list has all of them only above its bound.
bool top_p(Known& known, double p) {
  if (known.is_whole) {
    keep_top_p(known.pool, p);
    return true;
  }
  const float best = largest_score(known.pool);
  const std::vector<uint32_t> order = known.order(false);
  double above = 0;
  size_t kept = 0;
  for (; kept < order.size() && above < p - known.slack; ++kept) {
    above += known.weight(order[kept], best) / known.sum;
  }
  if (kept == 0) return false;
  const bool ends = kept < order.size() && above > p + known.slack &&
                    known.pool[order[kept - 1]].score > known.bound;
  if (kept < order.size()) known.bound = std::max(known.bound, known.pool[order[kept]].score);
  Pool pool;
  for (const uint32_t place : std::span(order).first(kept)) pool.push_back(known.pool[place]);
  std::ranges::sort(pool, {}, &Scored::id);
  known.pool = std::move(pool);
  known.is_whole = ends;
  known.is_thinned = !ends;
  return true;
}

void min_p(Known& known, double p) {
  const float best = largest_score(known.pool);
  keep_min_p(known.pool, p);
  if (known.is_whole) return;
  known.is_whole = part_of_largest(known.bound, best) < float(p);
  known.is_thinned = !known.is_whole;
}

std::optional<uint32_t> draw(const Known& known, double drawn) {
  if (known.is_whole) return token_at(known.pool, drawn);
  if (known.is_thinned) return {};
  const float best = largest_score(known.pool);
  double sum = 0;
  for (const uint32_t place : known.order(true)) {
    if (known.pool[place].score <= known.bound) return {};  // equals may come before it
    sum += known.weight(place, best) / known.sum;
    if (drawn < sum - known.slack) return known.pool[place].id;
    if (drawn < sum + known.slack) return {};
  }
  return {};
}

}  // namespace

bool can_take_lists(const SamplingParams& params, bool has_grammar) {
  // A rule that lifts tokens may lift some that are not listed.
  const auto lifts = [](const auto& bias) { return bias.second > 0; };
  if (params.repetition_penalty < 1 || params.presence_penalty < 0 ||
      params.frequency_penalty < 0 || std::ranges::any_of(params.logit_bias, lifts)) {
    return false;
  }
  if (params.temperature == 0) return true;
  if (params.top_k != 0) return params.top_k < kTopK;
  return !has_grammar && (params.typical_p == 1 || params.top_p < 1 || params.min_p > 0);
}

bool can_guess(const SamplingParams& params) {
  if (!can_take_lists(params) || params.changes_scores()) return false;
  if (params.temperature == 0) return true;
  // It knows the sum without a penalty.
  const bool needs_sum = params.top_k == 0 && (params.min_p == 0 || params.top_p < 1);
  return params.typical_p == 1 && (params.repetition_penalty == 1 || !needs_sum);
}

SamplingRule sampling_rule(const SamplingParams& params, uint64_t random) {
  SamplingRule rule;
  rule.repetition_penalty = float(params.repetition_penalty);
  if (params.temperature == 0) {
    rule.top_k = 1;
    return rule;
  }
  rule.inverse_temperature = 1 / temperature_divisor(params.temperature);
  rule.top_k = params.top_k;
  rule.top_p = float(params.top_p);
  rule.min_p = float(params.min_p);
  rule.set_random(random);
  return rule;
}

std::optional<uint32_t> token_of_list(std::span<const float> list,
                                      std::span<const uint32_t> previous_ids,
                                      const SamplingParams& params, uint64_t generated,
                                      double drawn, const TokenTest& allows) {
  std::optional<Known> found = read_list(list);
  if (!found) return {};
  Known& known = *found;
  if (allows) {
    std::erase_if(known.pool, [&](const Scored& token) { return !allows(token.id); });
    if (known.pool.empty()) return {};
    // Which of the others may follow is not known, so that they may have to be among the k largest.
    const bool has_k = params.top_k != 0 && known.pool.size() >= params.top_k;
    if (params.temperature != 0 && !has_k && !known.is_whole) return {};
  }
  const bool adjusts = params.repetition_penalty != 1 || params.changes_scores();
  if (adjusts) {
    for (const Scored& token : known.pool) {
      known.listed += std::exp((double(token.score) - double(known.largest)) /
                               double(temperature_divisor(params.temperature)));
    }
    if (!adjust(known, previous_ids, generated, params)) return {};
  }
  if (params.temperature == 0) {
    const Scored best = known.pool[known.order(true).front()];
    if (!known.is_whole && best.score <= known.bound) return {};
    return best.id;
  }
  if (!divide(known, params.temperature)) return {};
  if (adjusts && !known.is_whole) correct_sum(known, params.temperature);
  if (params.top_k != 0 && !top_k(known, params.top_k)) return {};
  if (params.top_p < 1 && !top_p(known, params.top_p)) return {};
  if (params.min_p > 0) min_p(known, params.min_p);
  if (params.typical_p < 1 && !known.is_whole) return {};
  if (params.typical_p < 1) keep_typical(known.pool, params.typical_p);
  return draw(known, drawn);
}

}  // namespace tokamak
