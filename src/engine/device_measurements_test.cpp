#include "tune/device_measurements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/environment.h"
#include "engine/engine.h"
#include "tune/background_self_test.h"
#include "tune/changed_program_test.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWrong = "linear.wgsl.matvec";

/// A device with the tables of WebGPU that computes with the reference; but one number is changed
/// after every phase with a kernel that is said to be wrong.
class FakeDevice : public Backend {
 public:
  explicit FakeDevice(const char* driver = "1", std::string_view wrong = kWrong) : wrong_(wrong) {
    device_.backend = BackendKind::kWebGpu;
    device_.name = "fake";
    device_.driver = driver;
  }
  const DeviceInfo& device() const override { return device_; }
  uint64_t device_bytes() const override { return 0; }
  Result<std::unique_ptr<Program>> compile(Plan plan, const ConstantReader& constants,
                                           const LoadProgress& progress) override {
    ++compiled;
    Plan reference = plan;
    for (Phase& phase : reference.phases) {
      for (Step& step : phase.steps) {
        step.kernel = find_variant(fmt::format("{}.cpu", op_name(step.op)));
      }
    }
    TOK_TRY(std::unique_ptr<Program> program,
            cpu_->compile(std::move(reference), constants, progress));
    return std::make_unique<ChangedProgram>(
        std::move(program), std::move(plan), [wrong = wrong_](const Phase& phase) {
          const auto is_wrong = [&](const Step& step) { return step.kernel->name == wrong; };
          return std::ranges::any_of(phase.steps, is_wrong) ? 1.0f : 0.0f;
        });
  }

  int compiled = 0;

 private:
  DeviceInfo device_;
  std::string_view wrong_;
  std::unique_ptr<Backend> cpu_ = make_cpu_backend();
};

class DeviceMeasurementsTest : public testing::Test {
 protected:
  DeviceMeasurementsTest()
      : folder_(fs::path(testing::TempDir()) /
                (std::string("tokamak_measurements_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    options_.context = 32;
    options_.chunk = 8;
    options_.find_wrong = [this](Backend& on, const Plan& plan) {
      return find_wrong_kernels(on, plan,
                                MeasurementCache(folder_.string(), kSelfTestCache, on.device()));
    };
    options_.notice = [this](std::string_view text) { notices_.emplace_back(text); };
  }
  ~DeviceMeasurementsTest() override { fs::remove_all(folder_); }

  std::unique_ptr<Engine> load(std::unique_ptr<Backend> backend) {
    auto files = read_model_files(TOKAMAK_TEST_DATA "/models/llama_untied");
    EXPECT_TRUE(files) << files.error().message;
    auto engine = Engine::load(*std::move(files), std::move(backend), options_, [] { return 0.0; });
    EXPECT_TRUE(engine) << engine.error().message;
    return engine ? *std::move(engine) : nullptr;
  }
  /// How often the kernels that are left compiled something: the self-test and the model.
  int compiled(const Engine& engine) const {
    return static_cast<const FakeDevice&>(engine.backend()).compiled;
  }

  fs::path folder_;
  OpenOptions options_;
  std::vector<std::string> notices_;
};

TEST_F(DeviceMeasurementsTest, AWrongKernelIsDroppedAndSaidOnce) {
  const auto engine = load(std::make_unique<FakeDevice>());
  ASSERT_NE(engine, nullptr);
  size_t linear = 0;
  for (const Phase& phase : engine->compiled().main.plan.phases) {
    for (const Step& step : phase.steps) {
      EXPECT_NE(step.kernel->name, kWrong);
      linear += step.kernel->name.starts_with("linear.wgsl") ? 1 : 0;
    }
  }
  EXPECT_GT(linear, 0u);
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_TRUE(notices_[0].starts_with(
      "Other kernels run in place of linear.wgsl.matvec, which \"fake\" computes wrongly (linear"))
      << notices_[0];
}

TEST_F(DeviceMeasurementsTest, WhereNoKernelOfAFusedOpIsLeftTheOthersRun) {
  const auto engine = load(std::make_unique<FakeDevice>("1", "step_attention.wgsl"));
  ASSERT_NE(engine, nullptr);
  size_t attention = 0;
  for (const Phase& phase : engine->compiled().main.plan.phases) {
    for (const Step& step : phase.steps) {
      EXPECT_NE(op_name(step.op), "step_attention") << phase.name;
      attention += op_name(step.op) == "attention" ? 1 : 0;
    }
  }
  EXPECT_GT(attention, 0u);
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_EQ(notices_[0],
            "Fusion is left out where \"fake\" has no right kernel for what it makes "
            "(step_attention); update its driver.");
  OpenOptions forced = options_;
  forced.advice.wrong = {{"step_attention.wgsl", "of the test"}};
  forced.forced = {{"linear", "linear.wgsl.matvec_subgroup"}};
  const auto refused = Engine::compile(engine->files(), engine->device(), forced);
  ASSERT_FALSE(refused) << "passes went for what the device lacks";
  EXPECT_NE(refused.error().message.find("forced"), std::string::npos) << refused.error().message;
}

TEST_F(DeviceMeasurementsTest, VerdictsAreKept) {
  const auto first = load(std::make_unique<FakeDevice>());
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(compiled(*first), 3) << "the self-test, that of what took its place, the model";
  const auto second = load(std::make_unique<FakeDevice>());
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(compiled(*second), 1);
  EXPECT_EQ(second->compiled().main.plan, first->compiled().main.plan);
  EXPECT_EQ(notices_.size(), 2u);
  const auto other = load(std::make_unique<FakeDevice>("2"));
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(compiled(*other), 3) << "another driver";
}

TEST_F(DeviceMeasurementsTest, VerdictsThatAreDamagedAreMadeAgain) {
  load(std::make_unique<FakeDevice>());
  for (const auto& entry : fs::directory_iterator(folder_)) fs::resize_file(entry.path(), 100);
  const auto again = load(std::make_unique<FakeDevice>());
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(compiled(*again), 3);
  const auto healed = load(std::make_unique<FakeDevice>());
  ASSERT_NE(healed, nullptr);
  EXPECT_EQ(compiled(*healed), 1);
}

TEST_F(DeviceMeasurementsTest, ReportsWhyNothingIsKept) {
  const std::string before = environment_variable("TOKAMAK_CACHE_DIR");
  setenv("TOKAMAK_CACHE_DIR", folder_.c_str(), 1);
  EXPECT_EQ(cache_problem(), "");
  setenv("TOKAMAK_CACHE_DIR", "/proc/nowhere", 1);
  EXPECT_TRUE(cache_problem().starts_with("/proc/nowhere/pipelines cannot be made ("))
      << cache_problem();
  setenv("TOKAMAK_CACHE_DIR", folder_.c_str(), 1);
  setenv("TOKAMAK_PIPELINES_LIMIT", "much", 1);
  EXPECT_TRUE(cache_problem().starts_with("TOKAMAK_PIPELINES_LIMIT is \"much\", expected"));
  unsetenv("TOKAMAK_PIPELINES_LIMIT");
  setenv("TOKAMAK_CACHE_DIR", before.c_str(), 1);
}

Result<std::unique_ptr<Backend>> open_fake() {
  return std::make_unique<FakeDevice>();
}

TEST_F(DeviceMeasurementsTest, ATestBesideTheStepsSaysWhatTheNextStartLeavesOut) {
  options_.find_wrong = nullptr;
  const auto engine = load(std::make_unique<FakeDevice>());
  ASSERT_NE(engine, nullptr);
  const Plan& plan = engine->compiled().main.plan;
  const MeasurementCache cache(folder_.string(), kSelfTestCache, engine->device());
  {
    BackgroundSelfTest beside(open_fake, kept_verdicts(cache), options_.notice);
    EXPECT_TRUE(beside.look_at(plan).empty()) << "nothing is known yet";
    beside.wait();
  }
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_TRUE(notices_[0].starts_with("Kernel linear.wgsl.matvec computes wrongly on \"fake\" ("))
      << notices_[0];
  BackgroundSelfTest next(open_fake, kept_verdicts(cache), options_.notice);
  const WrongVariants wrong = next.look_at(plan);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong.begin()->first, kWrong);
  next.wait();
  EXPECT_EQ(notices_.size(), 1u);
}

TEST_F(DeviceMeasurementsTest, ATestThatEndsEarlyContinuesAtTheNextStart) {
  options_.find_wrong = nullptr;
  const auto engine = load(std::make_unique<FakeDevice>());
  ASSERT_NE(engine, nullptr);
  const Plan& plan = engine->compiled().main.plan;
  FakeDevice device;
  size_t calls = 0;
  const auto begun = test_plan(device, plan, {}, [&](const Verdicts&) { return ++calls < 2; });
  ASSERT_TRUE(begun) << begun.error().message;
  const auto whole = test_plan(device, plan, {});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(calls, 2u);
  EXPECT_LT(begun->size(), whole->size());
  EXPECT_EQ(test_plan(device, plan, *begun).value(), *whole);
}

TEST_F(DeviceMeasurementsTest, NothingIsTestedWhenNobodyAsks) {
  options_.find_wrong = nullptr;
  const auto engine = load(std::make_unique<FakeDevice>());
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(compiled(*engine), 1);
  EXPECT_TRUE(notices_.empty());
}

}  // namespace
}  // namespace tokamak
