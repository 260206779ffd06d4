#include "generate/sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include "base/json.h"

namespace tokamak {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Json golden() {
  std::ifstream file(TOKAMAK_TEST_DATA "/samplers/golden.json", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  auto parsed = Json::parse(text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? *parsed : Json(Json::Object{});
}

double number(const Json& object, std::string_view name, double otherwise) {
  const Json* value = object.find(name);
  return value == nullptr ? otherwise : value->as_number();
}

SamplingParams params_of(const Json& object) {
  for (const auto& [name, value] : object.as_object()) {
    EXPECT_TRUE(name == "temperature" || name == "top_k" || name == "top_p" || name == "min_p" ||
                name == "typical_p" || name == "repetition_penalty")
        << name;
  }
  return {.temperature = number(object, "temperature", 1),
          .top_k = uint32_t(number(object, "top_k", 0)),
          .top_p = number(object, "top_p", 1),
          .min_p = number(object, "min_p", 0),
          .typical_p = number(object, "typical_p", 1),
          .repetition_penalty = number(object, "repetition_penalty", 1)};
}

struct Vector {
  bool has_ties;
  std::vector<float> logits;
  std::vector<uint32_t> previous_ids;
};

Vector vector_of(const Json& object) {
  Vector vector{.has_ties = object.find("kind")->as_string() == "ties"};
  for (const Json& logit : object.find("logits")->as_array()) {
    vector.logits.push_back(float(logit.as_number()));
  }
  for (const Json& id : object.find("previous_ids")->as_array()) {
    vector.previous_ids.push_back(uint32_t(id.as_integer()));
  }
  return vector;
}

TEST(SampleDistribution, AgreesWithTransformersOnEveryGolden) {
  const Json root = golden();
  std::vector<Vector> vectors;
  for (const Json& vector : root.find("vectors")->as_array()) vectors.push_back(vector_of(vector));
  size_t cases = 0;
  for (const Json& entry : root.find("cases")->as_array()) {
    SCOPED_TRACE(fmt::format("vector {}, params {}", entry.find("vector")->dump(),
                             entry.find("params")->dump()));
    const Vector& vector = vectors[size_t(entry.find("vector")->as_integer())];
    auto candidates =
        sample_distribution(vector.logits, vector.previous_ids, params_of(*entry.find("params")));
    ASSERT_TRUE(candidates) << candidates.error().message;
    const Json* survivors = entry.find("survivors");
    std::vector<uint32_t> ids;
    std::vector<double> probs;
    if (survivors->is_string()) {
      for (uint32_t id = 0; id < vector.logits.size(); ++id) ids.push_back(id);
    } else {
      for (const Json& id : survivors->as_array()) ids.push_back(uint32_t(id.as_integer()));
    }
    const Json* listed = entry.find(survivors->is_string() ? "probs_all" : "probs");
    for (const Json& prob : listed->as_array()) probs.push_back(prob.as_number());
    if (vector.has_ties) {
      // Which of several equal tokens survive a cut is arbitrary there; their number is not.
      std::ranges::sort(probs);
      std::ranges::sort(candidates->probs);
    } else {
      EXPECT_EQ(candidates->ids, ids);
    }
    ASSERT_EQ(candidates->probs.size(), probs.size());
    for (size_t i = 0; i < probs.size(); ++i) {
      EXPECT_NEAR(candidates->probs[i], probs[i], 6e-6 * probs[i] + 1e-9) << i;  // six digits
    }
    ++cases;
  }
  EXPECT_EQ(cases, 161u);
}

TEST(SampleDistribution, KeepsEverythingByDefault) {
  const std::vector<float> logits = {0, std::log(2.0f), std::log(5.0f)};
  auto candidates = sample_distribution(logits, {}, {});
  ASSERT_TRUE(candidates);
  EXPECT_EQ(candidates->ids, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_NEAR(candidates->probs[0], 0.125, 1e-6);
  EXPECT_NEAR(candidates->probs[2], 0.625, 1e-6);
}

TEST(SampleDistribution, TopKKeepsTokensEqualToTheLast) {
  const std::vector<float> logits = {3, 1, 2, 2, 2, 0};
  EXPECT_EQ(sample_distribution(logits, {}, {.top_k = 2})->ids,
            (std::vector<uint32_t>{0, 2, 3, 4}));
  EXPECT_EQ(sample_distribution(logits, {}, {.top_k = 100})->ids.size(), 6u);
}

TEST(SampleDistribution, TopPKeepsAtLeastTheMostProbable) {
  const std::vector<float> logits = {0, 9, 1};
  EXPECT_EQ(sample_distribution(logits, {}, {.top_p = 1e-9})->ids, std::vector<uint32_t>{1});
  const std::vector<float> one = {4};
  EXPECT_EQ(sample_distribution(one, {}, {.top_p = 1e-9})->ids, std::vector<uint32_t>{0});
}

TEST(SampleDistribution, TopPRemovesATailOfExactlyTheRest) {
  // Quarters: the first one sums up to 1 - 0.75 and goes, as in a stable ascending sort.
  EXPECT_EQ(sample_distribution(std::vector<float>(4, 1), {}, {.top_p = 0.75})->ids,
            (std::vector<uint32_t>{1, 2, 3}));
}

TEST(SampleDistribution, TypicalStopsAtExactlyItsMass) {
  // Probabilities 1/2, 1/4, 1/8, 1/8: the entropy is 1.75 bits, so the second is the most typical.
  const float log_2 = std::log(2.0f);
  const std::vector<float> logits = {3 * log_2, 2 * log_2, log_2, log_2};
  EXPECT_EQ(sample_distribution(logits, {}, {.typical_p = 0.25})->ids, std::vector<uint32_t>{1});
  EXPECT_EQ(sample_distribution(logits, {}, {.typical_p = 0.26})->ids,
            (std::vector<uint32_t>{0, 1}));
  // The last two are equally typical: both stay.
  EXPECT_EQ(sample_distribution(logits, {}, {.typical_p = 0.8})->ids.size(), 4u);
}

TEST(SampleDistribution, PenaltyCountsATokenOnceAndPushesBothSignsDown) {
  const std::vector<float> logits = {2, -1, 0.5f};
  const std::vector<uint32_t> previous = {0, 0, 1, 0};
  auto candidates = sample_distribution(logits, previous, {.repetition_penalty = 2});
  ASSERT_TRUE(candidates);
  const double sum = std::exp(1.0) + std::exp(-2.0) + std::exp(0.5);
  EXPECT_NEAR(candidates->probs[0], std::exp(1.0) / sum, 1e-6);
  EXPECT_NEAR(candidates->probs[1], std::exp(-2.0) / sum, 1e-6);
}

TEST(SampleDistribution, TemperatureZeroLeavesTheGreedyToken) {
  const std::vector<float> logits = {1, 3, 3, 2};
  EXPECT_EQ(sample_distribution(logits, {}, {.temperature = 0})->ids, std::vector<uint32_t>{1});
  const std::vector<uint32_t> previous = {1, 2};
  EXPECT_EQ(sample_distribution(logits, previous, {.temperature = 0, .repetition_penalty = 2})->ids,
            std::vector<uint32_t>{3});
}

TEST(SampleDistribution, NanAndMinusInfinityNeverSurvive) {
  const std::vector<float> logits = {kNan, 1, -kInf, 1, kNan};
  auto candidates = sample_distribution(logits, {}, {});
  ASSERT_TRUE(candidates);
  EXPECT_EQ(candidates->ids, (std::vector<uint32_t>{1, 3}));
  EXPECT_FLOAT_EQ(candidates->probs[0], 0.5f);
  EXPECT_EQ(sample_distribution(logits, {}, {.temperature = 0})->ids, std::vector<uint32_t>{1});
  const std::vector<uint32_t> previous = {0, 2};
  EXPECT_EQ(sample_distribution(logits, previous, {.repetition_penalty = 2})->ids,
            (std::vector<uint32_t>{1, 3}));
}

TEST(SampleDistribution, StaysFiniteWhenTheTemperatureIsTiny) {
  const std::vector<float> logits = {-3e38f, 2e38f, 3e38f, 0, 3e38f};
  for (const double temperature : {1e-3, 1e-30, 1e-300}) {
    auto candidates = sample_distribution(logits, {}, {.temperature = temperature});
    ASSERT_TRUE(candidates);
    EXPECT_EQ(candidates->ids, (std::vector<uint32_t>{2, 4})) << temperature;
    EXPECT_FLOAT_EQ(candidates->probs[0], 0.5f);
  }
  const std::vector<float> negative = {-3e38f, -2e38f, -kInf};
  EXPECT_EQ(sample_distribution(negative, {}, {.temperature = 1e-3})->ids,
            std::vector<uint32_t>{1});
  const std::vector<uint32_t> all = {0, 1, 2};
  auto penalized = sample_distribution(negative, all, {.repetition_penalty = 100});
  EXPECT_EQ(penalized->ids.size(), 2u);
  EXPECT_FLOAT_EQ(penalized->probs[0], 0.5f);
}

TEST(SampleDistribution, ReportsLogitsThatAreNoNumbers) {
  const std::vector<float> logits = {kNan, -kInf, kNan};
  const std::string expected =
      "The logits are not numbers: 3 of 3 are NaN or infinite; the weights of the model may be "
      "damaged.";
  EXPECT_EQ(sample_distribution(logits, {}, {}).error().message, expected);
  EXPECT_EQ(greedy_token(logits).error().message, expected);
  EXPECT_EQ(greedy_token(std::vector<float>{1, kInf, 2}).error().message,
            "The logits are not numbers: 1 of 3 are NaN or infinite; the weights of the model may "
            "be damaged.");
  EXPECT_EQ(greedy_token({}).error().message, "There are no logits to choose a token from.");
}

TEST(SampleDistribution, ReportsIdsOutsideTheVocabulary) {
  const std::vector<float> logits = {1, 2};
  const std::vector<uint32_t> previous = {0, 2};
  EXPECT_EQ(sample_distribution(logits, previous, {}).error().message,
            "Token id 2 is outside the vocabulary of 2 tokens.");
}

TEST(SamplingParams, NamesValueAndRange) {
  EXPECT_TRUE(SamplingParams{}.validate());
  const auto message = [](const SamplingParams& params) {
    auto result = params.validate();
    return result ? "no error" : result.error().message;
  };
  EXPECT_EQ(message({.temperature = -0.5}),
            "The temperature is -0.5; it must be from 0 to 1000000.");
  EXPECT_EQ(message({.temperature = double(kNan)}),
            "The temperature is nan; it must be from 0 to 1000000.");
  EXPECT_EQ(message({.temperature = double(kInf)}),
            "The temperature is inf; it must be from 0 to 1000000.");
  EXPECT_EQ(message({.top_p = 0}), "top_p is 0; it must be above 0 and at most 1.");
  EXPECT_EQ(message({.top_p = 1.5}), "top_p is 1.5; it must be above 0 and at most 1.");
  EXPECT_EQ(message({.min_p = -1}), "min_p is -1; it must be from 0 to 1.");
  EXPECT_EQ(message({.typical_p = 0}), "typical_p is 0; it must be above 0 and at most 1.");
  EXPECT_EQ(message({.repetition_penalty = 0}),
            "The repetition penalty is 0; it must be from 0.01 to 100.");
  EXPECT_EQ(message({.presence_penalty = 2.5}),
            "The presence penalty is 2.5; it must be from -2 to 2.");
  EXPECT_EQ(message({.frequency_penalty = double(kNan)}),
            "The frequency penalty is nan; it must be from -2 to 2.");
  EXPECT_EQ(message({.logit_bias = {{7, 101.0f}}}),
            "The bias of token 7 is 101; it must be from -100 to 100.");
  const std::vector<float> logits = {1, 2};
  EXPECT_FALSE(sample_distribution(logits, {}, {.top_p = 2}));
  EXPECT_FALSE(Sampler::make({.top_p = 2}));
}

TEST(GreedyToken, TakesTheLowestOfEqualsAndNeverNan) {
  EXPECT_EQ(*greedy_token(std::vector<float>{1, 5, 5}), 1u);
  EXPECT_EQ(*greedy_token(std::vector<float>{kNan, -7, kNan, -6}), 3u);
  EXPECT_EQ(*greedy_token(std::vector<float>{-kInf, -3e38f}), 1u);
}

std::vector<uint32_t> draw(const SamplingParams& params, std::span<const float> logits,
                           size_t count) {
  auto sampler = Sampler::make(params);
  EXPECT_TRUE(sampler);
  std::vector<uint32_t> tokens;
  for (size_t i = 0; i < count; ++i) tokens.push_back(*sampler->next(logits, {}, i));
  return tokens;
}

TEST(Sampler, SameSeedSameTokensOnEveryPlatform) {
  const std::vector<float> logits = {0, 0, 0, 0, 0, 0, 0, 0};
  // The top three bits of splitmix64's outputs for seed 0: e220.., 6e78.., 06c4.., f88b.., ...
  EXPECT_EQ(draw({.seed = 0}, logits, 8), (std::vector<uint32_t>{7, 3, 0, 7, 0, 2, 1, 6}));
  EXPECT_EQ(draw({.seed = 7}, logits, 50), draw({.seed = 7}, logits, 50));
  EXPECT_NE(draw({.seed = 7}, logits, 50), draw({.seed = 8}, logits, 50));
}

TEST(Sampler, DrawsAsOftenAsTheProbabilitiesSay) {
  const std::vector<float> logits = {std::log(1.0f), std::log(2.0f), -kInf, std::log(7.0f)};
  std::map<uint32_t, int> counts;
  for (const uint32_t id : draw({.seed = 3}, logits, 20000)) ++counts[id];
  EXPECT_EQ(counts.count(2), 0u);
  EXPECT_NEAR(counts[0] / 20000.0, 0.1, 0.01);
  EXPECT_NEAR(counts[1] / 20000.0, 0.2, 0.01);
  EXPECT_NEAR(counts[3] / 20000.0, 0.7, 0.01);
}

TEST(Sampler, NumberOfSurvivorsDoesNotShiftTheSequence) {
  const std::vector<float> one = {0, 50, 0};
  const std::vector<float> even = {0, 0, 0, 0};
  auto plain = Sampler::make({.seed = 5});
  auto narrow = Sampler::make({.seed = 5});
  for (uint64_t step = 0; step < 20; ++step) {
    (void)plain->next(even, {}, step);
    EXPECT_EQ(*narrow->next(one, {}, step), 1u);
  }
  EXPECT_EQ(*plain->next(even, {}, 20), *narrow->next(even, {}, 20));
}

TEST(Sampler, AppliesItsParameters) {
  const std::vector<float> logits = {1, 1.1f, 0.9f, 1.05f};
  EXPECT_EQ(draw({.temperature = 0}, logits, 5), (std::vector<uint32_t>(5, 1)));
  EXPECT_EQ(draw({.top_k = 1}, logits, 5), (std::vector<uint32_t>(5, 1)));
}

/// The greedy token where the last `generated` of the previous ids were generated.
uint32_t greedy_after(SamplingParams params, const std::vector<float>& logits,
                      const std::vector<uint32_t>& previous_ids, uint64_t generated) {
  params.temperature = 0;
  const auto id = Sampler::make(params)->next(logits, previous_ids, generated);
  EXPECT_TRUE(id) << id.error().message;
  return id.value_or(~0u);
}

TEST(Sampler, PenaltiesOfPresenceAndFrequencyCountWhatWasGenerated) {
  const std::vector<float> logits = {1, 2, 1.4f};
  const SamplingParams presence = {.presence_penalty = 0.7}, frequency = {.frequency_penalty = 0.4};
  EXPECT_EQ(greedy_after(presence, logits, {1, 1}, 0), 1u) << "the prompt does not count";
  EXPECT_EQ(greedy_after(presence, logits, {1, 1}, 1), 2u);
  EXPECT_EQ(greedy_after(frequency, logits, {1, 1}, 1), 1u);
  EXPECT_EQ(greedy_after(frequency, logits, {1, 1}, 2), 2u);
  EXPECT_EQ(greedy_after({.presence_penalty = -1.5}, logits, {0}, 1), 0u);
}

TEST(Sampler, ABiasIsAddedBeforeAllElse) {
  const std::vector<float> logits = {1, 2, 1.4f};
  EXPECT_EQ(greedy_after({.logit_bias = {{0, 100}}}, logits, {}, 0), 0u);
  EXPECT_EQ(greedy_after({.logit_bias = {{1, -100}}}, logits, {}, 0), 2u);
  // (2 - 1) / 2 is less than 1, where 2 / 2 - 1 would be 0.
  EXPECT_EQ(greedy_after({.repetition_penalty = 2, .logit_bias = {{1, -1}, {2, -0.5f}}}, logits,
                         {1, 2}, 0),
            0u);
  EXPECT_EQ(Sampler::make({.temperature = 0, .logit_bias = {{3, 1}}})
                ->next(logits, {}, 0)
                .error()
                .message,
            "Generation step 0: Token id 3 is outside the vocabulary of 3 tokens.");
}

TEST(Sampler, LateTokensComeWhenEnoughIsThere) {
  const std::vector<float> logits = {1, 2, 1.4f};
  const SamplingParams params = {.min_tokens = 2, .late_ids = {1}};
  EXPECT_EQ(greedy_after(params, logits, {0}, 1), 2u);
  EXPECT_EQ(greedy_after(params, logits, {0, 0}, 2), 1u);
  EXPECT_EQ(greedy_after(params, {-kInf, 2, -kInf}, {0}, 1), 1u) << "nothing else can come";
}

TEST(Sampler, NamesTheStepOfBadLogits) {
  auto sampler = Sampler::make({});
  const std::vector<float> logits = {kNan, kNan};
  EXPECT_EQ(sampler->next(logits, {}, 12).error().message,
            "Generation step 12: The logits are not numbers: 2 of 2 are NaN or infinite; the "
            "weights of the model may be damaged.");
}

TEST(Logprobs, GivesTheChosenAndTheBest) {
  const std::vector<float> logits = {std::log(1.0f), std::log(4.0f), kNan, std::log(1.0f),
                                     std::log(2.0f)};
  auto result = logprobs(logits, 3, 3);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->chosen.id, 3u);
  EXPECT_NEAR(result->chosen.logprob, std::log(0.125), 1e-6);
  ASSERT_EQ(result->top.size(), 3u);
  EXPECT_EQ(result->top[0].id, 1u);
  EXPECT_NEAR(result->top[0].logprob, std::log(0.5), 1e-6);
  EXPECT_EQ(result->top[1].id, 4u);
  EXPECT_EQ(result->top[2].id, 0u);
  EXPECT_EQ(logprobs(logits, 0, 99)->top.size(), 4u);
  EXPECT_EQ(logprobs(logits, 2, 0)->chosen.logprob, -kInf);
  EXPECT_EQ(logprobs(logits, 5, 0).error().message,
            "Token id 5 is outside the vocabulary of 5 tokens.");
}

}  // namespace
}  // namespace tokamak
