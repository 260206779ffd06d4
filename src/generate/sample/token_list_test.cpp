#include "generate/sample/token_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "plan/plan.h"

namespace tokamak {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// The list that a device makes of them; its sum is off by `error`, a share of it.
std::vector<float> list_of(const std::vector<float>& logits, const SamplingParams& params,
                           double error = 0) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  std::vector<uint32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0u);
  std::erase_if(ids, [&](uint32_t i) { return !std::isfinite(logits[i]); });
  std::ranges::stable_sort(ids, std::greater(), [&](uint32_t i) { return logits[i]; });
  double sum = 0;
  const double factor = double(sampling_rule(params, 0).inverse_temperature);
  for (const uint32_t id : ids) {
    sum += std::exp(double(logits[id] - logits[ids[0]]) * factor);
  }
  std::vector<float> list;
  for (size_t i = 0; i < std::min<size_t>(kTopK, logits.size()); ++i) {
    list.push_back(i < ids.size() ? logits[ids[i]] : kLowest);
    list.push_back(i < ids.size() ? float(ids[i]) : -1);
  }
  list.push_back(std::ranges::count(logits, kInf) > 0 ? -1 : float(sum * (1 + error)));
  return list;
}

/// Logits as models have them: few are probable. `step` above 0: rounded to its multiples.
std::vector<float> some_logits(uint32_t vocab, float spread, float step, std::mt19937& random) {
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> logits(vocab);
  for (float& logit : logits) {
    logit = normal(random);
    if (step > 0) logit = std::round(logit / step) * step;
  }
  return logits;
}

struct Setting {
  SamplingParams params;
  double least = 0;  // the share of steps for which a list must be enough
};
const Setting kSettings[] = {
    {{.temperature = 1}, 0.7},
    {{.temperature = 0.1}, 0.99},
    {{.temperature = 5}},
    {{.temperature = 1, .top_k = 1}, 0.85},
    {{.temperature = 1, .top_k = 40}, 0.85},
    {{.temperature = 5, .top_k = 100}, 0.75},
    {{.temperature = 1, .top_p = 0.9}, 0.6},
    {{.temperature = 0.5, .top_p = 0.5}, 0.95},
    {{.temperature = 1, .min_p = 0.05}, 0.95},
    {{.temperature = 2, .min_p = 0.02}, 0.5},
    {{.temperature = 1, .top_p = 0.95, .min_p = 0.05}, 0.95},
    {{.temperature = 0.8, .top_k = 40, .top_p = 0.95, .min_p = 0.05}, 0.9},
    {{.temperature = 1, .top_k = 20, .typical_p = 0.6}, 0.85},
    {{.temperature = 1, .top_p = 0.7, .typical_p = 0.6}, 0.8},
    {{.temperature = 0.7, .top_k = 20, .top_p = 0.8, .repetition_penalty = 1.1}, 0.85},
    {{.temperature = 0.3, .min_p = 0.15, .repetition_penalty = 1.05}, 0.95},
    {{.temperature = 1, .min_p = 0.1, .typical_p = 0.8, .repetition_penalty = 1.5}, 0.9},
    {{.temperature = 0, .repetition_penalty = 1.3}, 0.95},
    {{.temperature = 1e-30}, 0.5},
    {{.temperature = 1, .repetition_penalty = 1.2}, 0.5},
    {{.temperature = 0.8, .top_p = 0.9, .repetition_penalty = 1.1}, 0.5},
    {{.temperature = 1, .presence_penalty = 0.7}, 0.5},
    {{.temperature = 1, .top_p = 0.9, .frequency_penalty = 0.4}, 0.5},
    {{.temperature = 0, .presence_penalty = 0.5, .frequency_penalty = 2}, 0.95},
    {{.temperature = 1,
      .top_k = 20,
      .repetition_penalty = 1.1,
      .presence_penalty = 1,
      .logit_bias = {{7, -3.0f}, {41, -100.0f}}},
     0.85},
    {{.temperature = 1, .logit_bias = {{3, -1.0f}, {59, -100.0f}}}, 0.6},
    {{.temperature = 0, .min_tokens = 100, .late_ids = {5, 6, 50}}, 0.95},
    {{.temperature = 1, .top_p = 0.95, .min_tokens = 75, .late_ids = {1, 2}}, 0.5},
};

TEST(TokenList, IsNotEnoughWhereTokensAreLifted) {
  EXPECT_TRUE(can_take_lists({.temperature = 0}));
  EXPECT_TRUE(can_take_lists({.temperature = 0, .presence_penalty = 1}));
  EXPECT_FALSE(can_take_lists({.temperature = 0, .frequency_penalty = -1}));
  EXPECT_FALSE(can_take_lists({.temperature = 0, .logit_bias = {{1, 1.0f}}}));
  EXPECT_TRUE(can_take_lists({.temperature = 0, .logit_bias = {{1, -1.0f}}}));
  EXPECT_TRUE(can_take_lists({.temperature = 0, .min_tokens = 1}));
}

TEST(TokenList, GivesTheTokenOfAllLogitsOrNone) {
  std::mt19937 random(5);
  for (const Setting& setting : kSettings) {
    Sampler all = *Sampler::make(setting.params), listed = *Sampler::make(setting.params);
    uint32_t enough = 0, steps = 0;
    for (const uint32_t vocab : {60u, 3000u}) {
      for (uint32_t i = 0; i < 150; ++i, ++steps) {
        const std::vector<float> logits = some_logits(vocab, 3, i % 3 == 0 ? 0.25f : 0, random);
        std::vector<uint32_t> previous(20);
        for (uint32_t& id : previous) id = uint32_t(random()) % vocab;
        const double error = 1e-5 * (double(random() % 2001) / 1000 - 1);
        const auto id = listed.next_of_list(list_of(logits, setting.params, error), previous, i);
        const uint32_t expected = *all.next(logits, previous, i);
        if (id) {
          ASSERT_EQ(*id, expected) << "setting " << &setting - kSettings << ", step " << i;
          ++enough;
        } else {
          ASSERT_EQ(*listed.next(logits, previous, i), expected);
        }
      }
    }
    EXPECT_GE(enough, setting.least * steps) << "setting " << &setting - kSettings;
    EXPECT_TRUE(can_take_lists(setting.params)) << "setting " << &setting - kSettings;
  }
}

TEST(TokenList, GivesTheTokenOfWhatIsAllowedOrNone) {
  std::mt19937 random(7);
  for (const Setting& setting : {Setting{{.temperature = 0}, 0.9},
                                 Setting{{.temperature = 0, .repetition_penalty = 1.3}, 0.9},
                                 Setting{{.temperature = 1, .top_k = 40, .top_p = 0.9}, 0.4},
                                 Setting{{.temperature = 1, .top_k = 5, .min_p = 0.05}, 0.6},
                                 Setting{{.temperature = 1, .top_p = 0.9}, 0}}) {
    Sampler all = *Sampler::make(setting.params), listed = *Sampler::make(setting.params);
    uint32_t enough = 0, steps = 0;
    for (const uint32_t vocab : {60u, 3000u}) {
      for (uint32_t i = 0; i < 300; ++i, ++steps) {
        std::vector<float> logits = some_logits(vocab, 3, i % 3 == 0 ? 0.25f : 0, random);
        const std::vector<float> list = list_of(logits, setting.params);
        // One of few, or most of all.
        std::vector<bool> allowed(vocab);
        for (uint32_t id = 0; id < vocab; ++id) allowed[id] = random() % 8 < 1 + i % 7;
        allowed[random() % vocab] = true;
        const std::vector<uint32_t> previous = {uint32_t(random()) % vocab};
        const auto id =
            listed.next_of_list(list, previous, i, [&](uint32_t token) { return allowed[token]; });
        for (uint32_t token = 0; token < vocab; ++token) {
          if (!allowed[token]) logits[token] = -kInf;
        }
        const uint32_t expected = *all.next(logits, previous, i);
        enough += id.has_value();
        ASSERT_EQ(id ? *id : *listed.next(logits, previous, i), expected)
            << "setting with top_k " << setting.params.top_k << ", step " << i;
      }
    }
    EXPECT_GE(enough, setting.least * steps) << "top_k " << setting.params.top_k;
  }
  EXPECT_FALSE(can_take_lists({.top_p = 0.9}, true));
  EXPECT_TRUE(can_take_lists({.top_k = 40, .top_p = 0.9}, true));
  EXPECT_TRUE(can_take_lists({.temperature = 0}, true));
}

/// Whatever is drawn: another sum within its error gives the same token, or none.
TEST(TokenList, IsSureOfWhatLiesBesideABorder) {
  const SamplingParams params{.temperature = 1};
  std::mt19937 random(6);
  const std::vector<float> logits = some_logits(1000, 3, 0, random);
  uint32_t enough = 0;
  for (double drawn = 0; drawn < 1; drawn += 1e-4) {
    const auto sure = token_of_list(list_of(logits, params), {}, params, 0, drawn);
    if (!sure) continue;
    ++enough;
    for (const double error : {-1e-5, 1e-5}) {
      const auto id = token_of_list(list_of(logits, params, error), {}, params, 0, drawn);
      EXPECT_EQ(id.value_or(*sure), *sure) << drawn;
    }
  }
  EXPECT_GT(enough, 8000u);
}

TEST(TokenList, LeavesLogitsThatAreNoNumbersToTheSampler) {
  const SamplingParams params{.temperature = 1, .top_k = 2};
  EXPECT_FALSE(token_of_list(list_of({kNan, -kInf, kNan}, params), {}, params, 0, 0.5));
  EXPECT_FALSE(token_of_list(list_of({1, kInf, 2}, params), {}, params, 0, 0.5));
  EXPECT_EQ(token_of_list(list_of({kNan, 1, -kInf, 1, kNan}, params), {}, params, 0, 0.5), 3u);
}

TEST(TokenList, CannotDecideWhereEqualsAreNotListed) {
  const std::vector<float> equal(200, 1.5f);
  std::vector<float> one_better = equal;
  one_better[150] = 5;  // has 0.142 of the mass
  for (const SamplingParams& params :
       {SamplingParams{.temperature = 1}, SamplingParams{.temperature = 1, .top_k = 3},
        SamplingParams{.temperature = 1, .top_p = 0.3}}) {
    EXPECT_FALSE(token_of_list(list_of(equal, params), {}, params, 0, 0.2));
    EXPECT_FALSE(token_of_list(list_of(one_better, params), {}, params, 0, 0.2)) << params.top_k;
  }
  const SamplingParams plain{.temperature = 1}, narrow{.temperature = 1, .top_p = 0.1};
  EXPECT_EQ(token_of_list(list_of(one_better, plain), {}, plain, 0, 0.14), 150u);
  EXPECT_EQ(token_of_list(list_of(one_better, narrow), {}, narrow, 0, 0.99), 150u);
  const SamplingParams greedy{.temperature = 0, .repetition_penalty = 2};
  EXPECT_FALSE(token_of_list(list_of(equal, greedy), {}, greedy, 0, 0));
  EXPECT_EQ(token_of_list(list_of(one_better, greedy), {}, greedy, 0, 0), 150u);
}

TEST(TokenList, RecognizesTheSumAfterAPenaltyButForWhatIsNotListed) {
  const SamplingParams params{.temperature = 1, .repetition_penalty = 2};
  std::vector<float> steep(200), flat(200);
  for (size_t i = 0; i < steep.size(); ++i) {
    steep[i] = 10 - float(i) / 20;
    flat[i] = 1 - float(i) / 1000;
  }
  std::vector<uint32_t> previous = {0};
  EXPECT_EQ(token_of_list(list_of(steep, params), previous, params, 0, 0.01), 1u);
  EXPECT_EQ(token_of_list(list_of(flat, params), previous, params, 0, 0.002), 1u);
  for (uint32_t id = 128; id < 191; ++id) previous.push_back(id);
  EXPECT_EQ(token_of_list(list_of(steep, params), previous, params, 0, 0.01), 1u);
  EXPECT_FALSE(token_of_list(list_of(flat, params), previous, params, 0, 0.002));
}

TEST(TokenList, IsNotAskedForWhatItCannotDecide) {
  EXPECT_FALSE(can_take_lists({.top_k = kTopK}));
  EXPECT_FALSE(can_take_lists({.typical_p = 0.9}));
  EXPECT_TRUE(can_take_lists({.repetition_penalty = 1.1}));
  EXPECT_TRUE(can_take_lists({.top_p = 0.9, .min_p = 0.1, .repetition_penalty = 1.1}));
  EXPECT_FALSE(can_take_lists({.top_k = 10, .repetition_penalty = 0.9}));
  EXPECT_TRUE(can_take_lists({.temperature = 0, .repetition_penalty = 1.1}));
  EXPECT_TRUE(can_take_lists({.top_k = kTopK - 1}));
}

TEST(TokenList, TheDeviceMultipliesByAFiniteNumber) {
  EXPECT_EQ(sampling_rule({.temperature = 0}, 0).inverse_temperature, 1);
  EXPECT_EQ(sampling_rule({.temperature = 0.5}, 0).inverse_temperature, 2);
  EXPECT_TRUE(std::isfinite(sampling_rule({.temperature = 1e-300}, 0).inverse_temperature));
}

TEST(TokenList, IsGuessedOnlyByRulesThatTheDeviceHas) {
  EXPECT_TRUE(can_guess({}));
  EXPECT_TRUE(can_guess({.temperature = 0.8, .top_k = 40, .top_p = 0.9, .min_p = 0.1}));
  EXPECT_TRUE(can_guess({.top_k = 40, .repetition_penalty = 1.1}));
  EXPECT_TRUE(can_guess({.temperature = 0, .typical_p = 0.9, .repetition_penalty = 1.1}));
  EXPECT_TRUE(can_guess({.min_p = 0.1, .repetition_penalty = 1.1}));
  EXPECT_FALSE(can_guess({.repetition_penalty = 1.1}));
  EXPECT_FALSE(can_guess({.top_k = 40, .presence_penalty = 1}));
  EXPECT_FALSE(can_guess({.temperature = 0, .min_tokens = 3}));
  EXPECT_FALSE(can_guess({.top_k = 40, .repetition_penalty = 0.9}));
  EXPECT_FALSE(can_guess({.top_k = kTopK}));
  EXPECT_FALSE(can_guess({.top_k = 40, .typical_p = 0.9}));
  const SamplingRule rule =
      sampling_rule({.top_k = 40, .top_p = 0.75, .min_p = 0.125, .repetition_penalty = 1.25},
                    0x123456789abcdefull);
  EXPECT_EQ(rule.top_k, 40u);
  EXPECT_EQ(rule.top_p, 0.75f);
  EXPECT_EQ(rule.min_p, 0.125f);
  EXPECT_EQ(rule.repetition_penalty, 1.25f);
  EXPECT_EQ(rule.random(), 0x123456789abcdefull);
  const SamplingRule greedy = sampling_rule({.temperature = 0, .top_p = 0.5, .min_p = 0.5}, 0);
  EXPECT_EQ(greedy.top_k, 1u) << "the best token, whatever else is asked for";
  EXPECT_EQ(greedy.top_p, 1.0f);
  EXPECT_EQ(greedy.min_p, 0.0f);
}

}  // namespace
}  // namespace tokamak
