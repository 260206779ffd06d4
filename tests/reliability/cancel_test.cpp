// A request that nobody wants any more ends at the next step, however long its prompt is: counted
// in steps, which take a device some milliseconds each (`tokamak bench --sequences N` times them).
#include "reliability/fragile_engine.h"

namespace tokamak::golden {
namespace {

constexpr uint32_t kPrompt = 8000, kContext = 8192;
constexpr uint32_t kChunks = 4;  // of the prompt, that are submitted when it is given up

enum class End : uint8_t { kCancel, kCallback, kDeadline };

struct Cancelling : testing::TestWithParam<std::tuple<DeviceSetup, End>> {
  const DeviceSetup& setup = std::get<0>(GetParam());
  const End end = std::get<1>(GetParam());
  Fault fault;  // never comes; counts what is submitted
  double now = 0;
  std::unique_ptr<Engine> engine;

  void SetUp() override {
    require_device(setup);
    if (IsSkipped()) return;
    OpenOptions options = setup.options;
    options.context = kContext;
    options.chunk = 64;
    options.sequences = 2;
    options.cache_tokens = kContext;
    engine = open_fragile("llama_tied_rope3", fault, options, [this] { return now; });
    ASSERT_NE(engine, nullptr);
  }

  Request request_of(uint32_t length, std::optional<Generation>& out) {
    Request request;
    for (uint32_t i = 0; i < length; ++i) request.prompt.push_back((i * 37 + length) % 500);
    request.params.sampling.temperature = 0;
    request.params.max_tokens = 3;
    request.done = [&](Result<Generation> done) {
      ASSERT_TRUE(done) << done.error().message;
      out = *std::move(done);
    };
    return request;
  }
};

TEST_P(Cancelling, ALongPromptIsActedOnAtTheNextStep) {
  Scheduler* scheduler = *engine->scheduler();
  std::optional<Generation> alone, unwanted, next;
  ASSERT_TRUE(scheduler->add(request_of(20, alone)));
  ASSERT_TRUE(scheduler->run());
  ASSERT_TRUE(alone);

  bool is_unwanted = false;
  Request request = request_of(kPrompt, unwanted);
  if (end == End::kDeadline) request.deadline = 10;
  request.callbacks.cancelled = [&] { return is_unwanted; };
  const auto id = scheduler->add(std::move(request));
  ASSERT_TRUE(id) << id.error().message;
  const uint64_t before = scheduler->stats().prefill_steps;
  for (;;) {
    ASSERT_TRUE(scheduler->step());
    if (scheduler->stats().prefill_steps == before + kChunks) break;
    ASSERT_TRUE(scheduler->wait());
  }
  ASSERT_FALSE(unwanted);

  if (end == End::kCancel) scheduler->cancel(*id);
  is_unwanted = end == End::kCallback;
  now = end == End::kDeadline ? 10 : 9;
  // Steps of it are under way, and are not waited for.
  const uint32_t submitted = fault.counted();
  ASSERT_TRUE(scheduler->step());
  ASSERT_TRUE(unwanted);
  EXPECT_EQ(unwanted->finish, FinishReason::kCancelled);
  EXPECT_TRUE(unwanted->ids.empty());
  EXPECT_EQ(fault.counted(), submitted) << "nothing more of it is submitted";

  // Its slot and its pages are there for the next one, which runs as if nothing had been.
  ASSERT_TRUE(scheduler->add(request_of(20, next)));
  ASSERT_TRUE(scheduler->step());
  ASSERT_TRUE(scheduler->run());
  ASSERT_TRUE(next);
  EXPECT_EQ(next->ids, alone->ids);
  const SchedulerStats stats = scheduler->stats();
  EXPECT_EQ(stats.prefill_steps, before + kChunks + 1);
  EXPECT_EQ(stats.free_pages + stats.cached_pages, stats.pages);
}

TEST(CancellingOnTheCpu, AStepIsLeftBetweenItsLaunches) {
  constexpr uint32_t kLength = 48, kLooks = 5;
  OpenOptions options = setup_named("cpu_fast").options;
  options.context = 256;
  Fault fault;
  const auto engine = open_fragile("llama_tied_rope3", fault, options);
  ASSERT_NE(engine, nullptr);
  Scheduler* scheduler = *engine->scheduler();
  std::optional<Generation> unwanted, again;
  uint32_t looks = 0;
  const auto add = [&](std::optional<Generation>& out, bool is_cancelled) {
    Request request;
    for (uint32_t i = 0; i < kLength; ++i) request.prompt.push_back(i * 37 % 500);
    request.params.sampling.temperature = 0;
    request.params.max_tokens = 1;
    if (is_cancelled) request.callbacks.cancelled = [&] { return ++looks > kLooks; };
    request.done = [&](Result<Generation> done) {
      ASSERT_TRUE(done) << done.error().message;
      out = *std::move(done);
    };
    ASSERT_TRUE(scheduler->add(std::move(request)));
  };
  add(unwanted, true);
  ASSERT_TRUE(scheduler->run());
  ASSERT_TRUE(unwanted);
  EXPECT_EQ(unwanted->finish, FinishReason::kCancelled);
  EXPECT_EQ(looks, kLooks + 1) << "it was the last launch";
  add(again, false);
  ASSERT_TRUE(scheduler->run());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->cached_tokens, 0u) << "the step has computed nothing that can be kept";
  EXPECT_EQ(again->ids.size(), 1u);
}

std::string end_and_device(const testing::TestParamInfo<Cancelling::ParamType>& one) {
  constexpr const char* kEnds[] = {"cancel", "callback", "deadline"};
  return std::get<0>(one.param).name + "_" + kEnds[size_t(std::get<1>(one.param))];
}

INSTANTIATE_TEST_SUITE_P(
    Devices, Cancelling,
    testing::Combine(testing::Values(setup_named("cpu_fast"), setup_named("webgpu_f32")),
                     testing::Values(End::kCancel, End::kCallback, End::kDeadline)),
    end_and_device);

}  // namespace
}  // namespace tokamak::golden
