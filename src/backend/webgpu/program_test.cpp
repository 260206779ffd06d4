#include "backend/webgpu/program.h"

#include <gtest/gtest.h>

#include "backend/webgpu/tiny_device.h"

namespace {
uint32_t g_waits = 0, g_submissions = 0;         // so far
uint32_t g_good_waits = 0, g_failing_waits = 0;  // of the next ones, in this order
}  // namespace

// The linker puts these in place of the functions (see CMakeLists.txt): no device fails on demand.
extern "C" WGPUWaitStatus __real_wgpuInstanceWaitAny(WGPUInstance instance, size_t count,
                                                     WGPUFutureWaitInfo* infos, uint64_t timeout);
extern "C" WGPUWaitStatus __wrap_wgpuInstanceWaitAny(WGPUInstance instance, size_t count,
                                                     WGPUFutureWaitInfo* infos, uint64_t timeout) {
  ++g_waits;
  if (g_good_waits > 0 || g_failing_waits == 0) {
    g_good_waits -= g_good_waits > 0 ? 1 : 0;
    return __real_wgpuInstanceWaitAny(instance, count, infos, timeout);
  }
  --g_failing_waits;
  return WGPUWaitStatus_Error;
}

extern "C" void __real_wgpuQueueSubmit(WGPUQueue queue, size_t count,
                                       const WGPUCommandBuffer* commands);
extern "C" void __wrap_wgpuQueueSubmit(WGPUQueue queue, size_t count,
                                       const WGPUCommandBuffer* commands) {
  ++g_submissions;
  __real_wgpuQueueSubmit(queue, count, commands);
}

namespace tokamak {
namespace {

using Values = std::vector<float>;

class WebGpuProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    device_ = tiny_device();
    ASSERT_NE(device_, nullptr);
    backend_ = make_webgpu_backend(device_);
    compile();
  }

  void compile(size_t piece = 64, uint32_t vocab = kTinyVocab) {
    auto program = backend_->compile(tiny_plan(backend_->device(), vocab), tiny_reader(piece));
    ASSERT_TRUE(program) << program.error().message;
    program_ = *std::move(program);
  }

  /// Submits one token; its result or error ends in `results_`.
  Result<void> submit(uint32_t token) {
    return program_->submit(tiny_step(token, [this](Result<std::span<const float>> result) {
      if (result) {
        results_.emplace_back(Values(result->begin(), result->end()));
      } else {
        results_.push_back(Failure(result.error()));
      }
    }));
  }

  std::shared_ptr<WebGpuDevice> device_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Program> program_;
  std::vector<Result<Values>> results_;
};

TEST_F(WebGpuProgramTest, LoadsConstantsFromPiecesOfAnyLength) {
  for (const size_t piece : {4u, 8u, 12u, 28u, 1000u}) {
    compile(piece);
    results_.clear();
    for (uint32_t token = 0; token < kTinyVocab; ++token) ASSERT_TRUE(submit(token));
    ASSERT_TRUE(program_->wait());
    for (uint32_t token = 0; token < kTinyVocab; ++token) {
      ASSERT_TRUE(results_[token]);
      EXPECT_EQ(*results_[token], tiny_result(token)) << "pieces of " << piece;
    }
  }
}

TEST_F(WebGpuProgramTest, LoadsALargeConstantInShares) {
  constexpr uint32_t kVocab = 1'600'001;  // 42 MB
  compile(100'000, kVocab);
  for (const uint32_t token : {0u, 3846u, 700'000u, 1'234'567u, kVocab - 1}) {
    results_.clear();
    ASSERT_TRUE(submit(token));
    ASSERT_TRUE(program_->wait());
    ASSERT_TRUE(results_.at(0));
    EXPECT_EQ(*results_[0], tiny_result(token)) << token;
  }
}

TEST_F(WebGpuProgramTest, ReportsProgressAndTheReadersError) {
  std::vector<std::pair<uint64_t, uint64_t>> progress;
  const Plan plan = tiny_plan(backend_->device());
  ASSERT_TRUE(backend_->compile(plan, tiny_reader(), [&](uint64_t done, uint64_t total) {
    progress.push_back({done, total});
    return true;
  }));
  ASSERT_FALSE(progress.empty());
  EXPECT_TRUE(std::ranges::is_sorted(progress));
  uint64_t constants = 0;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.use == BufferUse::kConstant) constants += byte_count(buffer.tensor, 1);
  }
  EXPECT_EQ(progress.back(), std::pair(constants, constants));
  const auto broken =
      backend_->compile(plan, [](const TensorDesc&, Share, const auto&) -> Result<void> {
        return invalid_input("The file ends early.");
      });
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "The file ends early.");
}

TEST_F(WebGpuProgramTest, LoadingEndsWhereItsCallerSaysSo) {
  const Plan plan = tiny_plan(backend_->device());
  const auto cancelled =
      backend_->compile(plan, tiny_reader(), [](uint64_t, uint64_t) { return false; });
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(backend_->compile(plan, tiny_reader()));
}

TEST_F(WebGpuProgramTest, GivesResultsInOrderHoweverFarAheadTheCallerIs) {
  for (uint32_t i = 0; i < 20; ++i) ASSERT_TRUE(submit(i % kTinyVocab));
  EXPECT_TRUE(results_.empty()) << "submit() does not wait";
  while (results_.size() < 20) ASSERT_TRUE(program_->poll());
  for (uint32_t i = 0; i < 20; ++i) EXPECT_EQ(*results_[i], tiny_result(i % kTinyVocab));
}

TEST_F(WebGpuProgramTest, LimitsRequestsInFlight) {
  const uint32_t token = 3;
  g_waits = 0;
  for (uint32_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(program_->submit(tiny_step(token, StepRequest{}.done)));
    ASSERT_TRUE(program_->limit_batches(2));
  }
  EXPECT_EQ(g_waits, 4u) << "for the first, when the third was submitted, and so on";
  ASSERT_TRUE(program_->limit_batches(0));
  ASSERT_TRUE(program_->wait());
}

TEST_F(WebGpuProgramTest, AnswersEverythingBeforeAFailedWaitReturns) {
  for (const bool first : {false, true}) {
    ASSERT_TRUE(submit(0));
    ASSERT_TRUE(submit(1));
    g_failing_waits = 1;
    const auto failed = first ? program_->wait_for_result() : program_->wait();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::kDevice);
    ASSERT_EQ(results_.size(), 2u) << "their callbacks may refer to what is gone now";
    EXPECT_FALSE(results_[0]);
    EXPECT_FALSE(results_[1]);
    ASSERT_TRUE(submit(2));
    ASSERT_TRUE(program_->wait());
    ASSERT_EQ(results_.size(), 3u);
    EXPECT_EQ(*results_[2], tiny_result(2));
    results_.clear();
  }
}

TEST_F(WebGpuProgramTest, ComesToNoHarmWhereAnyWaitFailsWhileItIsMade) {
  const auto make = [&]() -> Result<std::unique_ptr<Program>> {
    TOK_TRY(std::shared_ptr<WebGpuDevice> device, open_webgpu_device({}));
    return make_webgpu_backend(device)->compile(tiny_plan(device->info()), tiny_reader());
  };
  g_waits = 0;
  ASSERT_TRUE(make());
  const uint32_t waits = g_waits;
  for (uint32_t good = 0; good < waits; ++good) {
    g_good_waits = good;
    g_failing_waits = 1;
    static_cast<void>(make());  // an adapter that does not answer may be one of several
    g_failing_waits = 0;
  }
  ASSERT_TRUE(make());
}

TEST_F(WebGpuProgramTest, StepsOfOtherShapesComeBetweenThoseRecordedAhead) {
  const uint32_t pair[] = {1, 2};
  size_t pairs = 0;
  for (uint32_t i = 0; i < 12; ++i) {
    ASSERT_TRUE(submit(i % kTinyVocab));
    if (i % 5 == 3) {
      ASSERT_TRUE(program_->submit(
          {.phase = 0, .slots = {{.count = 2}}, .tokens = pair, .done = [&](auto rows) {
             ASSERT_TRUE(rows);
             EXPECT_EQ(rows->size(), 2 * kTinyRows);
             ++pairs;
           }}));
      ASSERT_TRUE(program_->wait());
    }
  }
  ASSERT_TRUE(program_->wait());
  EXPECT_EQ(pairs, 2u);
  ASSERT_EQ(results_.size(), 12u);
  for (uint32_t i = 0; i < 12; ++i) EXPECT_EQ(*results_[i], tiny_result(i % kTinyVocab)) << i;
}

TEST_F(WebGpuProgramTest, WhatIsRecordedForNothingKeepsNoMemory) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(submit(i % kTinyVocab));
    ASSERT_TRUE(program_->wait());
    // Every third token is read once more, and again: other commands, twice in a row.
    for (uint32_t reads = i % 3 == 2 ? 2 : 0; reads > 0; --reads) {
      StepRequest again = tiny_step(i % kTinyVocab, [](auto rows) { EXPECT_TRUE(rows); });
      again.repeat = 0;
      ASSERT_TRUE(program_->submit(again));
      ASSERT_TRUE(program_->wait());
    }
    if (i == 8) bytes = device_->bytes();
  }
  EXPECT_EQ(device_->bytes(), bytes);
}

TEST_F(WebGpuProgramTest, TakesTheNextStepFromWithinACallback) {
  uint32_t token = 0;
  std::vector<Values> results;
  std::function<void(Result<std::span<const float>>)> next = [&](auto result) {
    ASSERT_TRUE(result);
    results.emplace_back(result->begin(), result->end());
    if (++token < kTinyVocab) {
      ASSERT_TRUE(program_->submit(tiny_step(token, next)));
    }
  };
  ASSERT_TRUE(program_->submit(tiny_step(token, next)));
  ASSERT_TRUE(program_->wait());
  ASSERT_EQ(results.size(), kTinyVocab);
  EXPECT_EQ(results.back(), tiny_result(kTinyVocab - 1));
}

TEST_F(WebGpuProgramTest, SizesTheResultByTheTokensOfTheStep) {
  const uint32_t tokens[] = {4, 0, 2};
  Values rows;
  ASSERT_TRUE(
      program_->submit({.phase = 0, .slots = {{.count = 3}}, .tokens = tokens, .done = [&](auto y) {
                          rows.assign(y->begin(), y->end());
                        }}));
  ASSERT_TRUE(
      program_->submit({.phase = 0, .slots = {{.count = 3}}, .tokens = tokens, .done = {}}));
  ASSERT_TRUE(program_->wait());
  ASSERT_EQ(rows.size(), 3 * kTinyRows);
  for (size_t t = 0; t < 3; ++t) {
    const Values row(rows.begin() + std::ptrdiff_t(t * kTinyRows),
                     rows.begin() + std::ptrdiff_t((t + 1) * kTinyRows));
    EXPECT_EQ(row, tiny_result(tokens[t]));
  }
}

TEST_F(WebGpuProgramTest, CountsItsBytesAndGivesThemBack) {
  EXPECT_GE(backend_->device_bytes(), footprint(program_->plan()).total());
  for (uint32_t i = 0; i < 8; ++i) ASSERT_TRUE(submit(0));
  program_.reset();  // with results on their way
  EXPECT_EQ(backend_->device_bytes(), 0u);
  EXPECT_TRUE(device_->wait_for_queue());
  device_->process_events();
  EXPECT_TRUE(results_.empty());
}

TEST_F(WebGpuProgramTest, OutlivesItsBackend) {
  backend_.reset();
  device_.reset();
  ASSERT_TRUE(submit(1));
  ASSERT_TRUE(program_->wait());
  EXPECT_EQ(*results_.at(0), tiny_result(1));
}

TEST_F(WebGpuProgramTest, EndsCleanlyWhenTheDeviceIsLost) {
  for (uint32_t i = 0; i < 5; ++i) ASSERT_TRUE(submit(0));
  wgpuDeviceForceLoss(device_->handle(), WGPUDeviceLostReason_Unknown, wgpu_text("pulled out"));
  const auto waited = program_->wait();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::kDeviceLost);
  EXPECT_NE(waited.error().message.find("pulled out"), std::string::npos) << waited.error().message;
  ASSERT_EQ(results_.size(), 5u) << "every step is answered";
  for (const Result<Values>& result : results_) {
    if (!result) {
      EXPECT_EQ(result.error().code, ErrorCode::kDeviceLost);
    }
  }
  const auto submitted = submit(0);
  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().code, ErrorCode::kDeviceLost);
  EXPECT_FALSE(program_->poll());
  const auto compiled = backend_->compile(tiny_plan(backend_->device()), tiny_reader());
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code, ErrorCode::kDeviceLost);
}

TEST_F(WebGpuProgramTest, NamesTheKernelThatDoesNotCompile) {
  Plan plan = tiny_plan(backend_->device());
  plan.phases[0].steps[0].launch.constants.clear();
  const auto program = backend_->compile(plan, tiny_reader());
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kDevice);
  EXPECT_NE(program.error().message.find("embed.wgsl"), std::string::npos)
      << program.error().message;
}

TEST_F(WebGpuProgramTest, LeavesNothingInFlightWhenLoadingFails) {
  // Its pipelines are still being compiled then; afterwards the device works as before.
  const auto fails = [](const TensorDesc&, Share, const auto&) -> Result<void> {
    return invalid_input("The file ends early.");
  };
  for (int i = 0; i < 5; ++i) {
    const auto program = backend_->compile(tiny_plan(backend_->device()), fails);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().message, "The file ends early.");
  }
  compile();
  ASSERT_TRUE(submit(2));
  ASSERT_TRUE(program_->wait());
  EXPECT_EQ(*results_.at(0), tiny_result(2));
}

TEST_F(WebGpuProgramTest, RefusesAGridThatTheDeviceCannotRun) {
  Plan plan = tiny_plan(backend_->device());
  plan.phases[1].steps[0].launch.grid.x.count = 70000;
  const auto program = backend_->compile(plan, tiny_reader());
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(program.error().message.find("70000"), std::string::npos) << program.error().message;
}

TEST_F(WebGpuProgramTest, SplitsAStepOverSubmissionsAsTheDeviceWants) {
  const size_t dispatches = program_->plan().phases[1].steps.size();
  ASSERT_GT(dispatches, 1u);
  for (const uint32_t limit : {0u, 1u, 2u, 1000u}) {
    SCOPED_TRACE(limit);
    device_ = tiny_device({.submit_dispatches = limit});
    ASSERT_NE(device_, nullptr);
    backend_ = make_webgpu_backend(device_);
    compile();
    results_.clear();
    g_submissions = 0;
    for (uint32_t token = 0; token < kTinyVocab; ++token) ASSERT_TRUE(submit(token));
    EXPECT_EQ(g_submissions, kTinyVocab * (limit == 0 ? 1 : ceil_div<size_t>(dispatches, limit)));
    ASSERT_TRUE(program_->wait());
    ASSERT_EQ(results_.size(), kTinyVocab);
    for (uint32_t token = 0; token < kTinyVocab; ++token) {
      ASSERT_TRUE(results_[token]);
      EXPECT_EQ(*results_[token], tiny_result(token)) << token;
    }
  }
}

TEST_F(WebGpuProgramTest, SplitsALongStepByItsTime) {
  const size_t dispatches = program_->plan().phases[1].steps.size();
  device_ = tiny_device({.submit_seconds = 1e-12});
  ASSERT_NE(device_, nullptr);
  backend_ = make_webgpu_backend(device_);
  compile();
  g_submissions = 0;
  ASSERT_TRUE(submit(3));
  EXPECT_EQ(g_submissions, dispatches);
  ASSERT_TRUE(program_->wait());
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(*results_[0], tiny_result(3));
  ASSERT_TRUE(program_->poll());
  // The device turned out to be slower than a tiny model's bytes allow.
  EXPECT_LT(device_->pace().limit(), 1e-12);
}

TEST_F(WebGpuProgramTest, IsMadeWithAConstantNumberOfWaits) {
  Plan plan = tiny_plan(backend_->device());
  std::vector<uint32_t> waits;
  for (int i = 0; i < 3; ++i) {
    g_waits = 0;
    const auto program = backend_->compile(plan, tiny_reader());
    ASSERT_TRUE(program) << program.error().message;
    waits.push_back(g_waits - (*program)->report().pipelines);  // one for each of these
    for (int more = 0; more < 20; ++more) {
      plan.phases.push_back(plan.phases[0]);
      plan.buffers.push_back(plan.buffers[0]);
    }
  }
  // For kernels and buffers, for staging memory, for bind groups.
  EXPECT_EQ(waits, std::vector<uint32_t>(3, 3));
}

TEST_F(WebGpuProgramTest, SharesPipelinesBetweenStepsOfOneText) {
  // The embedding is the same kernel in both phases, the product is not more than two.
  EXPECT_GE(program_->report().pipelines, 2u);
  EXPECT_LE(program_->report().pipelines, 3u);
  EXPECT_GT(program_->report().compile_seconds, 0);
}

}  // namespace
}  // namespace tokamak
