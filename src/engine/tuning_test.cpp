#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine.h"
#include "tune/tune.h"

namespace tokamak {
namespace {

constexpr const char* kModel = TOKAMAK_TEST_DATA "/models/llama_untied";

/// The seconds of a step in the run of that number; the first run warms up.
using Seconds = std::function<double(const Step&, int run)>;

/// A device whose kernels take as long as `seconds` says, and compute nothing.
class TimedProgram : public Program {
 public:
  TimedProgram(Plan plan, Seconds seconds) : plan_(std::move(plan)), seconds_(std::move(seconds)) {}
  const Plan& plan() const override { return plan_; }
  Result<void> write_table(BufferId, std::span<const uint32_t>, uint64_t) override { return {}; }
  Result<void> submit(const StepRequest&) override { return {}; }
  Result<void> poll() override { return {}; }
  Result<void> wait() override { return {}; }
  Result<std::vector<double>> time_launches(const StepRequest& request) override {
    std::vector<double> out;
    const int run = runs_[request.phase]++;
    for (const Step& step : plan_.phases[request.phase].steps) out.push_back(seconds_(step, run));
    return out;
  }

 private:
  Plan plan_;
  Seconds seconds_;
  std::map<size_t, int> runs_;  // of each phase
};

class TimedBackend : public Backend {
 public:
  explicit TimedBackend(Seconds seconds) : seconds_(std::move(seconds)) {
    device_.backend = BackendKind::kWebGpu;
    device_.name = "timed";
    device_.features = kFeatureF16 | kFeatureSubgroups;
    device_.subgroup_min = device_.subgroup_max = 32;
  }
  const DeviceInfo& device() const override { return device_; }
  uint64_t device_bytes() const override { return 0; }
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader&,
                                           const LoadProgress&) override {
    return std::make_unique<TimedProgram>(std::move(plan), seconds_);
  }

 private:
  DeviceInfo device_;
  Seconds seconds_;
};

class TuneTest : public testing::Test {
 protected:
  void SetUp() override {
    auto files = read_model_files(kModel);
    ASSERT_TRUE(files) << files.error().message;
    files_ = *std::move(files);
  }
  Engine::Compiled compile(const Backend& backend, const OpenOptions& options = {}) {
    auto compiled = Engine::compile(files_, backend.device(), options);
    EXPECT_TRUE(compiled) << compiled.error().message;
    return *std::move(compiled);
  }
  static TunedPlan target_of(const Engine::Compiled& compiled) {
    return {compiled.main.plan, compiled.context, compiled.facts.vocab};
  }
  std::vector<TunedProblem> tune(TimedBackend& backend, const TuneOptions& options = {}) {
    const Engine::Compiled compiled = compile(backend);
    auto problems = tune_plan(backend, target_of(compiled), {}, {}, options);
    EXPECT_TRUE(problems) << problems.error().message;
    return *std::move(problems);
  }

  ModelFiles files_;
};

TEST_F(TuneTest, ChoosesTheFastestAndSelectionFollows) {
  TimedBackend backend(
      [](const Step& step, int) { return step.kernel->name.ends_with(".any") ? 2e-6 : 3e-6; });
  const std::vector<TunedProblem> problems = tune(backend);
  ASSERT_FALSE(problems.empty());
  OpenOptions options;
  options.advice.tuned = tuned_variants(problems);
  const Engine::Compiled compiled = compile(backend, options);
  size_t tuned = 0;
  for (const Phase& phase : compiled.main.plan.phases) {
    for (const Step& step : phase.steps) {
      if (!step.kernel->name.ends_with(".any")) continue;
      ++tuned;
      EXPECT_TRUE(std::ranges::any_of(step.passed_over, [](const std::string& reason) {
        return reason.ends_with(": tuned: 3.0 us against 2.0 us");
      })) << step.kernel->name;
    }
  }
  EXPECT_GT(tuned, 0u);
}

TEST_F(TuneTest, DropsWhatIsTwiceAsSlowAfterTwoRounds) {
  std::map<uint32_t, int> slow_runs;
  uint32_t rounds = 0;
  TimedBackend backend([&](const Step& step, int) {
    const bool slow = step.kernel->name.ends_with(".any");
    slow_runs[rounds] += slow ? 1 : 0;
    return slow ? 9e-6 : 4e-6;
  });
  for (rounds = 1; rounds < 5; ++rounds) {
    const auto problems = tune(backend, {.rounds = rounds});
    const auto linear = std::ranges::find_if(
        problems, [](const TunedProblem& one) { return one.problem.starts_with("linear "); });
    ASSERT_NE(linear, problems.end());
    EXPECT_EQ(linear->dropped.contains("linear.wgsl.any"), rounds > 1);
    EXPECT_NE(linear->chosen, "linear.wgsl.any");
  }
  EXPECT_LT(slow_runs[1], slow_runs[2]);
  EXPECT_EQ(slow_runs[2], slow_runs[4]);
}

TEST_F(TuneTest, TakesTheLeastTimeOfTheRoundsButTheFirst) {
  constexpr double kRuns[] = {1e-6, 7e-6, 5e-6, 6e-6};
  TimedBackend backend([&](const Step&, int run) { return kRuns[run]; });
  const std::vector<TunedProblem> problems = tune(backend, {.rounds = 3});
  ASSERT_FALSE(problems.empty());
  for (const TunedProblem& problem : problems) {
    EXPECT_GT(problem.seconds.size(), 1u);
    EXPECT_EQ(problem.chosen, problem.before) << "of equals the one that would run anyway";
    for (const auto& [variant, seconds] : problem.seconds) EXPECT_DOUBLE_EQ(seconds, 5e-6);
  }
}

TEST_F(TuneTest, StopsWhenAsked) {
  TimedBackend backend([](const Step&, int) { return 1e-6; });
  const Engine::Compiled compiled = compile(backend);
  const auto problems =
      tune_plan(backend, target_of(compiled), {}, {}, {.cancelled = [] { return true; }});
  ASSERT_FALSE(problems);
  EXPECT_EQ(problems.error().code, ErrorCode::kCancelled);
}

TEST(TunedFiles, AreReadAsTheyAreWrittenAndOtherwiseLeftOut) {
  TunedVariants tuned;
  tuned["linear f32[T,8] -> f32[T,8] in steps of 1"] = {"linear.wgsl.any",
                                                        {{"linear.wgsl.any", 1.25e-5}}};
  const TunedVariants read = read_tuned(to_json(tuned));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read.begin()->first, tuned.begin()->first);
  EXPECT_EQ(read.begin()->second.name, "linear.wgsl.any");
  EXPECT_EQ(read.begin()->second.seconds, tuned.begin()->second.seconds);
  for (const char* text : {"null", "3", "[]", R"({"a": 1})", R"({"a": {"variant": 1}})",
                           R"({"a": {"variant": "x", "seconds": []}})"}) {
    EXPECT_TRUE(read_tuned(*Json::parse(text)).empty()) << text;
  }
  const TunedVariants odd =
      read_tuned(*Json::parse(R"({"a": {"variant": "x", "seconds": {"y": "z"}}})"));
  EXPECT_TRUE(odd.at("a").seconds.empty());
}

}  // namespace
}  // namespace tokamak
