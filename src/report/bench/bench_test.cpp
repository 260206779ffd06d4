#include "report/bench/bench.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {
namespace {

constexpr const char* kModel = TOKAMAK_TEST_DATA "/models/llama_untied";

Result<std::unique_ptr<Engine>> open_small() {
  return Engine::open({.model = kModel, .backend = "cpu", .context = 64, .chunk = 8});
}

TEST(BenchTiming, IsTheMedianAndTheQuartiles) {
  const Timing timing = timing_of({5, 1, 3, 2, 4});
  EXPECT_DOUBLE_EQ(timing.median, 3);
  EXPECT_DOUBLE_EQ(timing.spread, 2.0 / 3);
  EXPECT_DOUBLE_EQ(timing_of({7}).median, 7);
}

TEST(BenchTiming, IsTheMeanAndTheDeviationOfASample) {
  const std::vector<double> samples = {2, 4, 4, 4, 5, 5, 7, 9}, one = {3};
  EXPECT_DOUBLE_EQ(mean_of(samples).mean, 5);
  EXPECT_DOUBLE_EQ(mean_of(samples).deviation, std::sqrt(32.0 / 7));
  EXPECT_DOUBLE_EQ(mean_of(one).mean, 3);
  EXPECT_DOUBLE_EQ(mean_of(one).deviation, 0);
}

TEST(BenchTests, AreThoseOfEachNumberAtEachDepth) {
  const BenchOptions options{.prompts = {128, 512},
                             .generate = {0, 64},
                             .prompts_and_generate = {{512, 128}},
                             .depths = {0, 32}};
  std::vector<std::string> names;
  for (const BenchTest& test : tests_of(options)) names.push_back(test.name());
  EXPECT_EQ(names, (std::vector<std::string>{"pp128", "pp512", "tg64", "pp512+tg128", "pp128 @ d32",
                                             "pp512 @ d32", "tg64 @ d32", "pp512+tg128 @ d32"}));
  EXPECT_TRUE(tests_of({.prompts = {0}, .generate = {0}}).empty());
}

TEST(BenchError, IsRelativeToTheLargestAndSeesNan) {
  const std::vector<float> want = {1, -4, 2}, have = {1, -4, 3};
  EXPECT_DOUBLE_EQ(relative_error(have, want), 0.25);
  const std::vector<float> broken = {1, NAN, 2};
  EXPECT_TRUE(std::isnan(relative_error(broken, want)));
}

TEST(BenchBandwidth, KeepsOnesThroughCopiesAndProducts) {
  const auto cpu = make_cpu_backend();
  const auto speed = stream_bandwidth(*cpu, 1 << 16, steady_clock());
  ASSERT_TRUE(speed) << speed.error().message;
  EXPECT_GT(*speed, 1e6);
  EXPECT_LT(*speed, 1e12);
}

TEST(BenchFloor, IsTheBytesAndTheLaunches) {
  const BenchTest test{
      .generate = 10, .bytes_per_token = 2e6, .flops_per_token = 1, .launches_per_token = 100};
  EXPECT_DOUBLE_EQ(test.floor_seconds(1e9, 1e-6), 10 * (2e-3 + 1e-4));
  BenchTest ranks = test;
  ranks.link_bytes_per_token = 4e5;
  EXPECT_DOUBLE_EQ(ranks.floor_seconds(1e9, 1e-6, 4e8), 10 * (2e-3 + 1e-4 + 1e-3));
  EXPECT_DOUBLE_EQ(ranks.floor_seconds(1e9, 1e-6), 10 * (2e-3 + 1e-4)) << "no link was measured";
}

TEST(BenchFloor, ALaunchTakesTime) {
  const auto cpu = make_cpu_backend();
  const auto seconds = measure_launch(*cpu, steady_clock());
  ASSERT_TRUE(seconds) << seconds.error().message;
  EXPECT_GT(*seconds, 0);
  EXPECT_LT(*seconds, 1e-2);
}

TEST(Bench, CountsLaunchesAndBytesPerToken) {
  const auto engine = open_small();
  ASSERT_TRUE(engine) << engine.error().message;
  const auto report =
      bench_engine(**engine, {.prompts = {17}, .generate = {3}, .depths = {2}, .repetitions = 1},
                   steady_clock());
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->tests.size(), 2u);
  const std::vector<Phase>& phases = (*engine)->compiled().main.plan.phases;
  const size_t prefill = phases[0].steps.size(), decode = phases[1].steps.size();
  EXPECT_EQ(report->tests[0].name(), "pp17 @ d2");
  // Chunks of 8, 8 and 1.
  EXPECT_NEAR(report->tests[0].launches_per_token, double(2 * prefill + decode) / 17, 1e-9);
  EXPECT_EQ(report->tests[1].name(), "tg3 @ d2");
  EXPECT_NEAR(report->tests[1].launches_per_token, double(phases[3].steps.size()), 1e-9);
  EXPECT_GE(report->tests[1].bytes_per_token, double(report->memory.constants) / 2);
  EXPECT_TRUE(report->greedy_repeats && report->logits_finite && report->correct());
}

TEST(Bench, MeasuresAPromptAndWhatComesAfterItTogether) {
  const auto engine = open_small();
  ASSERT_TRUE(engine) << engine.error().message;
  const auto report = bench_engine(
      **engine,
      {.prompts = {0}, .generate = {0}, .prompts_and_generate = {{17, 3}}, .repetitions = 2},
      steady_clock());
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->tests.size(), 1u);
  const BenchTest& test = report->tests[0];
  EXPECT_EQ(test.name(), "pp17+tg3");
  EXPECT_EQ(test.seconds.size(), 2u);
  const std::vector<Phase>& phases = (*engine)->compiled().main.plan.phases;
  const size_t prefill = phases[0].steps.size(), decode = phases[1].steps.size();
  const double launches = double(2 * prefill + decode + 3 * phases[3].steps.size());
  EXPECT_NEAR(test.launches_per_token, launches / 20, 1e-9);
}

TEST(Bench, DrawsFromListsAndFromAllLogits) {
  const auto engine = open_small();
  ASSERT_TRUE(engine) << engine.error().message;
  BenchOptions options{.prompts = {0}, .generate = {5}, .repetitions = 1, .sampled = true};
  const auto report = bench_engine(**engine, options, steady_clock());
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->tests.size(), 3u);
  EXPECT_EQ(report->tests[1].name(), "tg5 sampled");
  EXPECT_EQ(report->tests[2].name(), "tg5 sampled from all logits");
  EXPECT_NEAR(report->tests[1].launches_per_token, report->tests[2].launches_per_token + 4, 1e-9);
  options.repetition_penalty = 0;
  const auto refused = bench_engine(**engine, options, steady_clock());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "The repetition penalty is 0; it must be from 0.01 to 100.");
}

TEST(Bench, MeasuresWhatSequencesFeelOfAPromptThatArrives) {
  const auto engine =
      Engine::open({.model = kModel, .backend = "cpu", .context = 128, .sequences = 3, .chunk = 8});
  ASSERT_TRUE(engine) << engine.error().message;
  BenchOptions options{
      .prompts = {0}, .generate = {2}, .sequences = {1, 3}, .arriving = 100, .repetitions = 1};
  const auto report = bench_engine(**engine, options, steady_clock());
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->tests.size(), 2u);
  EXPECT_FALSE(report->tests[0].arrival) << "there is nobody beside it";
  ASSERT_TRUE(report->tests[1].arrival);
  const Arrival& arrival = *report->tests[1].arrival;
  EXPECT_EQ(arrival.prompt, 100u);
  EXPECT_GT(arrival.before_seconds, 0);
  EXPECT_GT(arrival.median_seconds, 0);
  EXPECT_GE(arrival.slow_seconds, arrival.median_seconds);
  EXPECT_GT(arrival.first_token_seconds, arrival.median_seconds);
  EXPECT_GT(arrival.cancel_seconds, 0);
  EXPECT_EQ((*(*engine)->scheduler())->stats().running, 0u);
  options.arriving = 128;
  const auto refused = bench_engine(**engine, options, steady_clock());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "tg2 x 3 needs 129 positions, but the context has 128 (see --context).");
}

TEST(Bench, RefusesMoreTokensThanTheContextHas) {
  const auto engine = open_small();
  ASSERT_TRUE(engine) << engine.error().message;
  const auto report = bench_engine(
      **engine, {.prompts = {1, 60}, .generate = {3}, .depths = {0, 5}}, steady_clock());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUsage);
  EXPECT_EQ(report.error().message,
            "pp60 @ d5 needs 65 positions, but the context has 64 (see --context).");
}

TEST(Bench, IsIncorrectBeyondTheLimit) {
  BenchReport report{.greedy_repeats = true, .logits_finite = true};
  EXPECT_TRUE(report.correct());
  report.error = 3e-3;
  report.error_limit = 2e-3;
  EXPECT_FALSE(report.correct());
  report.error = NAN;
  EXPECT_FALSE(report.correct());
}

}  // namespace
}  // namespace tokamak
