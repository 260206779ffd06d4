#include "tune/self_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/problems_test.h"
#include "tune/changed_program_test.h"

namespace tokamak {
namespace {

double no_time() {
  return 0;
}

/// The reference, with one number of every result changed.
class WrongBackend : public Backend {
 public:
  explicit WrongBackend(float change) : WrongBackend([change](const Phase&) { return change; }) {}
  explicit WrongBackend(ChangedProgram::Change change) : change_(std::move(change)) {}
  const DeviceInfo& device() const override { return right_->device(); }
  uint64_t device_bytes() const override { return right_->device_bytes(); }
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    TOK_TRY(std::unique_ptr<Program> program, right_->compile(plan, constants, progress));
    return std::make_unique<ChangedProgram>(std::move(program), std::move(plan), change_);
  }

 private:
  std::unique_ptr<Backend> right_ = make_cpu_backend();
  ChangedProgram::Change change_;
};

/// Refuses every plan that holds a softcap.
class RefusingBackend : public WrongBackend {
 public:
  RefusingBackend() : WrongBackend(0) {}
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    for (const Phase& phase : plan.phases) {
      for (const Step& step : phase.steps) {
        if (std::holds_alternative<Softcap>(step.op)) {
          return fail(ErrorCode::kDevice, "The kernel does not compile.");
        }
      }
    }
    return WrongBackend::compile(std::move(plan), constants, progress);
  }
};

/// Has memory for plans of that many phases.
class SmallBackend : public WrongBackend {
 public:
  explicit SmallBackend(size_t max_phases) : WrongBackend(0), max_phases_(max_phases) {}
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    if (plan.phases.size() > max_phases_) {
      return fail(ErrorCode::kOutOfMemory, "Out of memory.");
    }
    return WrongBackend::compile(std::move(plan), constants, progress);
  }

 private:
  size_t max_phases_;
};

TEST(SelfTest, TheOnlyKernelThatIsNotKnownMayBeRefused) {
  const auto backend = make_cpu_backend();
  RefusingBackend refusing;
  for (const SelfTestCase& c : self_test_cases()) {
    if (c.op != "softcap") continue;
    const auto plan = capture(c.graph, backend->device(), {.phases = {{"own", 1}}, .forced = {}});
    ASSERT_TRUE(plan) << plan.error().message;
    Verdicts known;
    std::string unknown;
    for (const Step& step : plan->phases[0].steps) {
      if (std::holds_alternative<Softcap>(step.op)) {
        unknown = program_text(step);
      } else {
        known[program_text(step)] = "";
      }
    }
    const auto verdicts = test_plan(refusing, *plan, known);
    ASSERT_TRUE(verdicts) << verdicts.error().message;
    EXPECT_NE(verdicts->at(unknown).find("does not compile"), std::string::npos);
    return;
  }
  FAIL() << "no case of softcap";
}

TEST(SelfTest, TestsAProgramInStepsOfOneTokenAndInLargerOnesWhereThePlanHasBoth) {
  const auto found = std::ranges::find(self_test_cases(), RmsNorm::kName, &SelfTestCase::op);
  ASSERT_NE(found, self_test_cases().end());
  const auto plan = [&](const std::vector<PhaseRequest>& phases) {
    return capture(found->graph, make_cpu_backend()->device(), {.phases = phases, .forced = {}});
  };
  const PhaseRequest one = {"one", 1}, many = {"many", 70};
  for (const bool one_token : {true, false}) {
    WrongBackend backend(
        [&](const Phase& phase) { return (phase.max_tokens == 1) == one_token ? 1.0f : 0.0f; });
    const auto finds = [&](const std::vector<PhaseRequest>& phases) {
      const auto own = plan(phases);
      EXPECT_TRUE(own);
      const auto verdicts = test_plan(backend, *own, {});
      EXPECT_TRUE(verdicts);
      return wrong_variants(*own, *verdicts).contains("rms_norm.cpu");
    };
    EXPECT_EQ(finds({one}), one_token);
    EXPECT_EQ(finds({many}), !one_token);
    EXPECT_TRUE(finds({one, many}));
  }
}

TEST(SelfTest, ReportsNothingOfKernelsForWhichThereIsNoMemory) {
  SmallBackend enough(1), none(0);
  const auto test = self_test(enough, no_time);
  ASSERT_TRUE(test) << test.error().message;
  EXPECT_EQ(test->failed(), 0u);
  const auto refused = self_test(none, no_time);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kOutOfMemory);
}

size_t kernels_with(Features features) {
  return size_t(std::ranges::count_if(all_variants(), [&](const KernelVariant& variant) {
    return variant.backend == BackendKind::kCpu && (variant.needs & ~features) == 0;
  }));
}
size_t reference_kernels() {
  return kernels_with(0);
}

TEST(SelfTest, PassesOnTheReference) {
  const auto backend = make_cpu_backend();
  const auto test = self_test(*backend, no_time);
  ASSERT_TRUE(test) << test.error().message;
  EXPECT_EQ(test->failed(), 0u);
  EXPECT_EQ(test->skipped(), kernels_with(kAllFeatures) - reference_kernels());
  EXPECT_EQ(test->passed(), reference_kernels());
}

TEST(SelfTest, PassesOnTheProcessor) {
  const auto backend = make_vector_backend();
  ASSERT_NE(backend, nullptr);
  const auto test = self_test(*backend, no_time);
  ASSERT_TRUE(test) << test.error().message;
  EXPECT_EQ(test->failed(), 0u);
  EXPECT_EQ(test->passed(), kernels_with(backend->device().features));
}

TEST(SelfTest, ReportsProgressAndFindsTheSame) {
  RefusingBackend refusing;
  WrongBackend wrong(1e-2f);
  for (Backend* backend : {static_cast<Backend*>(&refusing), static_cast<Backend*>(&wrong)}) {
    std::vector<size_t> told;
    const auto silent = self_test(*backend, no_time);
    const auto test = self_test(*backend, no_time, [&](size_t kernel, size_t count) {
      EXPECT_EQ(count, reference_kernels());
      told.push_back(kernel);
    });
    ASSERT_TRUE(test && silent);
    ASSERT_GT(told.size(), 2u);
    EXPECT_EQ(told.front(), 1u);
    EXPECT_LE(std::ranges::max(told), reference_kernels());
    for (size_t k = 0; k < test->kernels.size(); ++k) {
      EXPECT_EQ(test->kernels[k].failure, silent->kernels[k].failure);
    }
  }
}

TEST(SelfTest, NoticesOneWrongNumberInEveryKernel) {
  for (const float change : {1e-2f, std::numeric_limits<float>::quiet_NaN()}) {
    WrongBackend backend(change);
    const auto test = self_test(backend, no_time);
    ASSERT_TRUE(test) << test.error().message;
    EXPECT_EQ(test->failed(), reference_kernels());
    for (const KernelCheck& check : test->kernels) {
      EXPECT_TRUE(check.failure != "" || check.skipped != "") << check.kernel;
    }
  }
}

TEST(SelfTest, NamesTheKernelThatTheDeviceRefuses) {
  RefusingBackend backend;
  const auto test = self_test(backend, no_time);
  ASSERT_TRUE(test) << test.error().message;
  EXPECT_EQ(test->failed(), 1u);
  for (const KernelCheck& check : test->kernels) {
    if (check.failure.empty()) continue;
    EXPECT_EQ(check.kernel, "softcap.cpu");
    EXPECT_EQ(check.failure, "softcap 301: The kernel does not compile.");
  }
}

TEST(SelfTestCases, ReachEveryKernelOfADeviceWithAllFeatures) {
  DeviceInfo device = full_webgpu();
  std::set<std::string_view> reached;
  const auto reach = [&] {
    for (const SelfTestCase& c : self_test_cases()) {
      for (const KernelVariant& variant : all_variants()) {
        if (op_name_at(variant.op) != c.op || variant.backend != device.backend) continue;
        const auto plan = capture(c.graph, device,
                                  {.phases = {{"test", c.max_tokens}},
                                   .forced = {{std::string(c.op), std::string(variant.name)}}});
        if (plan) reached.insert(variant.name);
      }
    }
  };
  reach();
  device.software = true;  // some kernels are for processors only
  reach();
  for (const KernelVariant& variant : all_variants()) {
    if (variant.backend != device.backend) continue;
    EXPECT_TRUE(reached.contains(variant.name)) << variant.name;
  }
}

}  // namespace
}  // namespace tokamak
