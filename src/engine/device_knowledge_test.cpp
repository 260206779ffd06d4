#include "engine/device_knowledge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace tokamak {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWrong = "linear.wgsl.matvec";

/// The reference, with one number changed behind every step of a kernel that is said to be wrong.
class FakeProgram : public Program {
 public:
  FakeProgram(std::unique_ptr<Program> reference, Plan plan)
      : reference_(std::move(reference)), plan_(std::move(plan)) {}
  const Plan& plan() const override { return plan_; }
  Result<void> write_table(BufferId buffer, std::span<const uint32_t> values) override {
    return reference_->write_table(buffer, values);
  }
  Result<void> submit(const StepRequest& request) override {
    const std::vector<Step>& steps = plan_.phases[request.phase].steps;
    const bool wrong =
        std::ranges::any_of(steps, [](const Step& step) { return step.kernel->name == kWrong; });
    if (!wrong || !request.done) return reference_->submit(request);
    StepRequest changed = request;
    changed.done = [&](Result<std::span<const float>> rows) {
      std::vector<float> copy(rows->begin(), rows->end());
      copy.back() += 1;
      request.done(std::span<const float>(copy));
    };
    return reference_->submit(changed);
  }
  Result<void> poll() override { return reference_->poll(); }
  Result<void> wait() override { return reference_->wait(); }

 private:
  std::unique_ptr<Program> reference_;
  Plan plan_;
};

/// A device with the tables of WebGPU that computes with the reference.
class FakeDevice : public Backend {
 public:
  explicit FakeDevice(const char* driver = "1") {
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
    return std::make_unique<FakeProgram>(std::move(program), std::move(plan));
  }

  int compiled = 0;

 private:
  DeviceInfo device_;
  std::unique_ptr<Backend> cpu_ = make_cpu_backend();
};

class DeviceKnowledgeTest : public testing::Test {
 protected:
  DeviceKnowledgeTest()
      : folder_(fs::path(testing::TempDir()) /
                (std::string("tokamak_knowledge_") +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    options_.context = 32;
    options_.chunk = 8;
    options_.find_wrong = [this](Backend& on, const Plan& plan) {
      return find_wrong_kernels(on, plan, DeviceNotes(folder_.string(), on.device()));
    };
    options_.notice = [this](std::string_view text) { notices_.emplace_back(text); };
  }
  ~DeviceKnowledgeTest() override { fs::remove_all(folder_); }

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

TEST_F(DeviceKnowledgeTest, AWrongKernelIsDroppedAndSaidOnce) {
  const auto engine = load(std::make_unique<FakeDevice>());
  ASSERT_NE(engine, nullptr);
  size_t linear = 0;
  for (const Phase& phase : engine->compiled().plan.phases) {
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

TEST_F(DeviceKnowledgeTest, VerdictsAreKept) {
  const auto first = load(std::make_unique<FakeDevice>());
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(compiled(*first), 3) << "the self-test, that of what took its place, the model";
  const auto second = load(std::make_unique<FakeDevice>());
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(compiled(*second), 1);
  EXPECT_EQ(second->compiled().plan, first->compiled().plan);
  EXPECT_EQ(notices_.size(), 2u);
  const auto other = load(std::make_unique<FakeDevice>("2"));
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(compiled(*other), 3) << "another driver";
}

TEST_F(DeviceKnowledgeTest, VerdictsThatAreDamagedAreMadeAgain) {
  load(std::make_unique<FakeDevice>());
  for (const auto& entry : fs::directory_iterator(folder_)) fs::resize_file(entry.path(), 100);
  const auto again = load(std::make_unique<FakeDevice>());
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(compiled(*again), 3);
  const auto healed = load(std::make_unique<FakeDevice>());
  ASSERT_NE(healed, nullptr);
  EXPECT_EQ(compiled(*healed), 1);
}

TEST_F(DeviceKnowledgeTest, NothingIsTestedWhenNobodyAsks) {
  options_.find_wrong = nullptr;
  const auto engine = load(std::make_unique<FakeDevice>());
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(compiled(*engine), 1);
  EXPECT_TRUE(notices_.empty());
}

}  // namespace
}  // namespace tokamak
