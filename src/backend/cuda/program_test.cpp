// Programs on the first CUDA device there is: in these tests the emulator's.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "backend/cuda/device.h"
#include "backend/tiny_plan.h"
#include "base/seconds.h"

namespace tokamak {
namespace {

/// The count of the emulator since the program began.
uint64_t counted(const char* what) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<uint64_t (*)()>(dlsym(library, what))();
}

std::unique_ptr<Backend> open() {
  auto backend = open_cuda_backend({});
  EXPECT_TRUE(backend) << backend.error().message;
  return backend ? *std::move(backend) : nullptr;
}

std::unique_ptr<Program> make(Backend& backend) {
  auto program = backend.compile(tiny_plan(backend.device()), tiny_reader());
  EXPECT_TRUE(program) << program.error().message;
  return program ? *std::move(program) : nullptr;
}

TEST(CudaProgram, GivesResultsInTheOrderOfTheirSteps) {
  const auto backend = open();
  ASSERT_NE(backend, nullptr);
  const auto program = make(*backend);
  ASSERT_NE(program, nullptr);
  std::vector<std::vector<float>> results;
  const auto keep = [&](Result<std::span<const float>> result) {
    ASSERT_TRUE(result) << result.error().message;
    results.emplace_back(result->begin(), result->end());
  };
  for (uint32_t token = 0; token < kTinyVocab; ++token) {
    ASSERT_TRUE(program->submit(tiny_step(token, keep)));
  }
  ASSERT_TRUE(program->wait());
  ASSERT_EQ(results.size(), kTinyVocab);
  for (uint32_t token = 0; token < kTinyVocab; ++token) {
    EXPECT_EQ(results[token], tiny_result(token));
  }
}

TEST(CudaProgram, DeliversWhenPolledAndWhenWaitedFor) {
  const auto backend = open();
  ASSERT_NE(backend, nullptr);
  const auto program = make(*backend);
  ASSERT_NE(program, nullptr);
  int delivered = 0;
  const auto count = [&](Result<std::span<const float>> result) { delivered += result ? 1 : 0; };
  const uint32_t token = 1;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(program->submit(tiny_step(token, count)));
  ASSERT_TRUE(program->wait_for_result());
  EXPECT_GE(delivered, 1);
  ASSERT_TRUE(program->limit_batches(0));
  ASSERT_TRUE(program->poll());
  EXPECT_EQ(delivered, 3);
  EXPECT_TRUE(program->wait_for_result());
}

/// The compiler that the emulator stands for knows sm_90 alone.
TEST(CudaProgram, RunsOnAGpuThatIsNewerThanTheCompiler) {
  setenv("TOKAMAK_EMULATED_ARCHITECTURE", "130", 1);
  const auto backend = open();
  unsetenv("TOKAMAK_EMULATED_ARCHITECTURE");
  ASSERT_NE(backend, nullptr);
  EXPECT_TRUE(backend->device().driver.ends_with("sm_130")) << backend->device().driver;
  const auto program = make(*backend);
  ASSERT_NE(program, nullptr);
  std::vector<float> given;
  ASSERT_TRUE(program->submit(tiny_step(2, [&](Result<std::span<const float>> result) {
    ASSERT_TRUE(result) << result.error().message;
    given.assign(result->begin(), result->end());
  })));
  ASSERT_TRUE(program->wait());
  EXPECT_EQ(given, tiny_result(2));
}

/// The state after another driver was installed.
TEST(CudaProgram, CompilesAgainWhatTheDriverDoesNotTakeOfAnEarlierRun) {
  const std::string folder = testing::TempDir() + "tokamak_refused_images";
  std::filesystem::remove_all(folder);
  const auto make_kept = [&](const char* refused) -> Result<uint32_t> {
    TOK_TRY(const auto backend, open_cuda_backend({.cache_dir = folder}));
    if (refused != nullptr) setenv("TOKAMAK_EMULATED_REFUSED", refused, 1);
    const auto program = backend->compile(tiny_plan(backend->device()), tiny_reader());
    unsetenv("TOKAMAK_EMULATED_REFUSED");
    if (!program) return Failure(program.error());
    return (*program)->report().cached;
  };
  EXPECT_EQ(make_kept(nullptr), 0u);
  const auto all = make_kept(nullptr);
  ASSERT_TRUE(all);
  EXPECT_EQ(make_kept("1"), *all - 1);
  EXPECT_EQ(make_kept(nullptr), *all) << "what was compiled again is kept";
  const auto twice = make_kept("2");
  ASSERT_FALSE(twice) << "the driver refuses what was just compiled";
  EXPECT_NE(twice.error().message.find("cannot be loaded"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(CudaProgram, CountsItsMemoryAndGivesItBack) {
  const auto backend = open();
  ASSERT_NE(backend, nullptr);
  uint64_t bytes = 0;
  for (const Buffer& buffer : tiny_plan(backend->device()).buffers) bytes += buffer.bytes;
  {
    const auto program = make(*backend);
    EXPECT_EQ(backend->device_bytes(), bytes);
  }
  EXPECT_EQ(backend->device_bytes(), 0u);
}

/// The last of its buffers has no room.
TEST(CudaProgram, ReportsWhatNeedsHowMuchWhereMemoryRunsOutAndGivesBackWhatItHad) {
  const auto backend = open();
  ASSERT_NE(backend, nullptr);
  constexpr uint64_t kPlenty = uint64_t{1} << 32;
  const Plan plan = tiny_plan(backend->device());
  uint64_t bytes = 0;
  for (const Buffer& buffer : plan.buffers) bytes += buffer.bytes;
  setenv("TOKAMAK_EMULATED_MEMORY", std::to_string(kPlenty).c_str(), 1);
  const uint64_t used = kPlenty - backend->free_bytes();  // by other tests of this program
  const auto leave = [&](uint64_t free) {
    setenv("TOKAMAK_EMULATED_MEMORY", std::to_string(used + free).c_str(), 1);
  };
  leave(bytes - 1);
  EXPECT_EQ(backend->free_bytes(), bytes - 1);
  const auto program = backend->compile(plan, tiny_reader());
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kOutOfMemory);
  const std::string last = fmt::format("of {} bytes: ", plan.buffers.back().bytes);
  EXPECT_NE(program.error().message.find(last), std::string::npos) << program.error().message;
  EXPECT_EQ(backend->device_bytes(), 0u);
  EXPECT_EQ(backend->free_bytes(), bytes - 1);
  leave(bytes);
  EXPECT_TRUE(backend->compile(plan, tiny_reader()));
  unsetenv("TOKAMAK_EMULATED_MEMORY");
}

TEST(CudaProgram, ReadsWeightsThatStayInTheHostsMemory) {
  const auto backend = open();
  ASSERT_NE(backend, nullptr);
  Plan plan = tiny_plan(backend->device());
  uint64_t bytes = 0;
  for (Buffer& buffer : plan.buffers) {
    buffer.on_host = buffer.use == BufferUse::kConstant;
    if (!buffer.on_host) bytes += buffer.bytes;
  }
  const auto program = backend->compile(std::move(plan), tiny_reader());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(backend->device_bytes(), bytes);
  std::vector<float> result;
  const uint32_t token = 2;
  ASSERT_TRUE((*program)->submit(tiny_step(token, [&](auto values) {
    if (values) result.assign(values->begin(), values->end());
  })));
  ASSERT_TRUE((*program)->wait());
  EXPECT_EQ(result, tiny_result(token));
}

/// Steps that come again become graphs.
class CudaProgramLaunches : public testing::TestWithParam<CudaLaunches> {};

TEST_P(CudaProgramLaunches, GiveTheSameResults) {
  const auto backend = open_cuda_backend({.launches = GetParam()});
  ASSERT_TRUE(backend) << backend.error().message;
  const auto program = make(**backend);
  ASSERT_NE(program, nullptr);
  size_t right = 0;
  for (uint32_t turn = 0; turn < 3; ++turn) {
    for (uint32_t token = 0; token < kTinyVocab; ++token) {
      ASSERT_TRUE(program->submit(tiny_step(token, [&right, token](auto result) {
        right += result && std::ranges::equal(*result, tiny_result(token)) ? 1 : 0;
      })));
    }
  }
  ASSERT_TRUE(program->wait());
  EXPECT_EQ(right, 3 * kTinyVocab);
}

INSTANTIATE_TEST_SUITE_P(All, CudaProgramLaunches,
                         testing::Values(CudaLaunches::kEager, CudaLaunches::kGraph,
                                         CudaLaunches::kDependent),
                         [](const auto& test) {
                           return std::string(kCudaLaunchesNames[size_t(test.param)]);
                         });

constexpr uint32_t kEights = 8;

/// y = W x by the library: x an embedding of the tiny model, cut to eight columns.
Plan library_plan(const DeviceInfo& device) {
  const auto weight = [](std::string name, Dim rows, DType dtype) {
    return TensorDesc{.name = name,
                      .shape = {rows, kEights},
                      .dtype = dtype,
                      .storage = Storage::kConstant,
                      .recipe = Weight{{name}}};
  };
  Graph graph;
  graph.values = {
      {.name = "tokens", .shape = {kTokens}, .dtype = DType::kU32, .storage = Storage::kInput},
      weight("table", kTinyVocab, DType::kF16),
      weight("w", kEights, DType::kBF16),
      {.name = {}, .shape = {kTokens, kEights}},
      {.name = {}, .shape = {kTokens, kEights}, .dtype = DType::kBF16},
      {.name = {}, .shape = {kTokens, kEights}}};
  graph.nodes = {{Embed{}, {ValueId{0}, ValueId{1}}, {ValueId{3}}},
                 {ToHalf{}, {ValueId{3}}, {ValueId{4}}},
                 {HalfLinear{0, kEights}, {ValueId{4}, ValueId{2}}, {ValueId{5}}}};
  graph.result = ValueId{5};
  auto plan = capture(graph, device, {.phases = {{"prefill", 4}}, .forced = {}});
  EXPECT_TRUE(plan) << plan.error().message;
  return *std::move(plan);
}

/// Small integers, which both types have.
Result<void> read_library_weights(const TensorDesc& tensor, Share share, const WriteBytes& write) {
  if (share.index != 0) return {};
  std::vector<uint16_t> all(size_t(element_count(tensor.shape, 1)));
  for (size_t i = 0; i < all.size(); ++i) {
    const float value = tiny_value(tensor.name, i);
    all[i] = tensor.dtype == DType::kF16 ? f32_to_f16(value) : f32_to_bf16(value);
  }
  return write(0, std::as_bytes(std::span(all)));
}

std::vector<float> library_result(std::span<const uint32_t> tokens) {
  std::vector<float> y;
  for (const uint32_t token : tokens) {
    for (size_t row = 0; row < kEights; ++row) {
      y.push_back(0);
      for (size_t i = 0; i < kEights; ++i) {
        y.back() += tiny_value("table", token * kEights + i) * tiny_value("w", row * kEights + i);
      }
    }
  }
  return y;
}

/// The work that the library puts onto the stream is a part of the graph.
TEST_P(CudaProgramLaunches, GiveTheSameResultsOfTheLibrary) {
  const auto backend = open_cuda_backend({.launches = GetParam()});
  ASSERT_TRUE(backend) << backend.error().message;
  const auto program =
      (*backend)->compile(library_plan((*backend)->device()), read_library_weights);
  ASSERT_TRUE(program) << program.error().message;
  const uint64_t graphs = counted("emulated_launched_graphs");
  size_t right = 0;
  for (uint32_t turn = 0; turn < 4; ++turn) {
    const uint32_t tokens[] = {turn, 4 - turn};
    ASSERT_TRUE(
        (*program)->submit({.phase = 0,
                            .slots = {{.count = 2}},
                            .tokens = tokens,
                            .done = [&right, expected = library_result(tokens)](auto result) {
                              right += result && std::ranges::equal(*result, expected) ? 1 : 0;
                            }}));
  }
  ASSERT_TRUE((*program)->wait());
  EXPECT_EQ(right, 4u);
  EXPECT_EQ(counted("emulated_launched_graphs") - graphs,
            GetParam() == CudaLaunches::kEager ? 0u : 3u);
}

TEST(CudaProgram, TimesEveryLaunchOfAStep) {
  const auto backend = open();
  ASSERT_NE(backend, nullptr);
  const auto program = make(*backend);
  ASSERT_NE(program, nullptr);
  const uint32_t token = 2;
  const auto seconds = program->time_launches(tiny_step(token, nullptr));
  ASSERT_TRUE(seconds) << seconds.error().message;
  EXPECT_EQ(seconds->size(), program->plan().phases[1].steps.size());
}

uint64_t loaded_modules() {
  return counted("emulated_loaded_modules");
}

/// Reading them does not end before the kernels are there.
TEST(CudaProgram, LoadsKernelsBesideTheConstants) {
  const auto backend = open();
  ASSERT_NE(backend, nullptr);
  const uint64_t before = loaded_modules();
  const ConstantReader read = tiny_reader();
  const auto program = backend->compile(
      tiny_plan(backend->device()),
      [&](const TensorDesc& tensor, Share share, const WriteBytes& write) -> Result<void> {
        const auto start = std::chrono::steady_clock::now();
        while (loaded_modules() == before) {
          if (seconds_since(start) > 60) return invalid_input("No kernel was loaded in a minute.");
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return read(tensor, share, write);
      });
  EXPECT_TRUE(program) << program.error().message;
}

TEST(CudaProgram, FinishesLoadingWithTheReadersError) {
  const auto backend = open();
  ASSERT_NE(backend, nullptr);
  const auto program =
      backend->compile(tiny_plan(backend->device()),
                       [](const TensorDesc&, Share, const WriteBytes&) -> Result<void> {
                         return invalid_input("The file is too short.");
                       });
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "The file is too short.");
  const auto cancelled = backend->compile(tiny_plan(backend->device()), tiny_reader(),
                                          [](uint64_t, uint64_t) { return false; });
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
}

/// The emulator's device fails at its third launch, and never works again before it is reset.
TEST(CudaProgram, ReportsALostDeviceAndRunsAfterItIsOpenedAgain) {
  setenv("TOKAMAK_EMULATED_FAULT", "launch:3:719", 1);
  const auto backend = open();
  unsetenv("TOKAMAK_EMULATED_FAULT");
  ASSERT_NE(backend, nullptr);
  auto lost_program = make(*backend);
  ASSERT_NE(lost_program, nullptr);
  std::vector<ErrorCode> answers;
  const auto keep = [&](Result<std::span<const float>> result) {
    if (!result) answers.push_back(result.error().code);
  };
  uint32_t token = 0;
  ASSERT_TRUE(lost_program->submit(tiny_step(token, keep)));
  const auto lost = lost_program->submit(tiny_step(token, keep));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kDeviceLost);
  EXPECT_NE(lost.error().message.find("CUDA_ERROR_LAUNCH_FAILED"), std::string::npos);
  const auto waited = lost_program->wait();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::kDeviceLost);
  EXPECT_EQ(answers, std::vector{ErrorCode::kDeviceLost});

  // The order of the engine: the program goes first, the device when there is another.
  lost_program.reset();
  const auto again = open();
  ASSERT_NE(again, nullptr);
  const auto program = make(*again);
  ASSERT_NE(program, nullptr);
  std::vector<float> result;
  token = 3;
  ASSERT_TRUE(program->submit(tiny_step(token, [&](Result<std::span<const float>> values) {
    if (values) result.assign(values->begin(), values->end());
  })));
  ASSERT_TRUE(program->wait());
  EXPECT_EQ(result, tiny_result(token));
}

}  // namespace
}  // namespace tokamak
