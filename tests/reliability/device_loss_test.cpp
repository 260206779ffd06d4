// A device may be lost at any step: tokens, logits and embeddings are the same to the bit as if it
// had not been.
#include <algorithm>
#include <numeric>

#include "reliability/fragile_backend.h"
#include "reliability/model_on_device.h"

namespace tokamak::golden {
namespace {

constexpr const char* kEncoder = TOKAMAK_TEST_DATA "/embeddings/embeddinggemma";
constexpr uint32_t kSampled = 5, kGreedy = 24;

Result<std::unique_ptr<Engine>> open_fragile(const std::string& model, OpenOptions options,
                                             Fault& fault) {
  TOK_TRY(ModelFiles files, read_model_files(model));
  TOK_TRY(std::unique_ptr<Backend> backend, FragileBackend::open(options, fault));
  options.chunk = 16;
  if (!options.reopen)
    options.reopen = [=, &fault] { return FragileBackend::open(options, fault); };
  options.notice = [&](std::string_view text) { fault.notices.emplace_back(text); };
  return Engine::load(std::move(files), std::move(backend), options, steady_clock());
}

/// A conversation as its user sees it: a prompt in chunks, sampled tokens, from lists and at a
/// temperature at which many are not enough, tokens that the device chooses, the logits after them.
struct Conversation {
  std::vector<uint32_t> ids;
  std::vector<float> logits;
  uint64_t lists = 0;  // what sampled ones were drawn from
  bool operator==(const Conversation& other) const {
    return ids == other.ids && logits == other.logits;
  }
};

Result<Conversation> run(Engine& engine, std::span<const uint32_t> prompt) {
  Conversation out;
  out.ids.assign(prompt.begin(), prompt.end());
  TOK_TRY(const Scheduler* scheduler, engine.scheduler());
  const uint64_t lists = scheduler->stats().listed_tokens;
  // Each finds what it has itself left, and not what the one before has.
  const std::string tenant = fmt::format("{}", scheduler->stats().steps);
  for (const SamplingParams& params :
       {SamplingParams{.temperature = 0.8, .top_k = 40, .seed = 7},
        SamplingParams{.temperature = 3, .seed = 7}, SamplingParams{.temperature = 0}}) {
    const uint32_t count = params.temperature == 0 ? kGreedy : kSampled + 1;
    Request request{.prompt = out.ids, .tenant = tenant};
    request.params.sampling = params;
    request.params.max_tokens = count + 8;  // the device is further when it is ended
    request.params.end_ids.emplace();
    uint32_t made = 0;
    request.callbacks.token = [&](uint32_t, const Logprobs*) { ++made; };
    request.callbacks.cancelled = [&] { return made >= count; };
    TOK_TRY(const Generation done, engine.generate(std::move(request)));
    out.ids.insert(out.ids.end(), done.ids.begin(), done.ids.end());
  }
  out.lists = scheduler->stats().listed_tokens - lists;
  Request request{.prompt = out.ids, .tenant = tenant};
  request.params.max_tokens = 0;
  request.logits = [&](std::span<const float> own) { out.logits.assign(own.begin(), own.end()); };
  TOK_TRY(engine.generate(std::move(request)));
  return out;
}

TEST(FragileDevice, IsTheOneThatOptionsName) {
  for (const char* name : {"cpu", "cpu_fast"}) {
    Fault none;
    const auto backend = FragileBackend::open(setup_named(name).options, none);
    ASSERT_TRUE(backend) << backend.error().message;
    EXPECT_EQ((*backend)->device().backend, BackendKind::kCpu) << name;
    EXPECT_EQ((*backend)->device().software, std::string_view(name) == "cpu");
  }
}

struct DeviceLoss : ModelOnDevice {};

TEST_P(DeviceLoss, ChangesNothingInAConversation) {
  Fault fault;
  const auto engine = open_fragile(model_folder(model), setup.options, fault);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto expected = run(**engine, ids);
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_GE(expected->lists, kSampled);
  EXPECT_LT(expected->lists, 2 * kSampled) << "some are drawn from all logits";
  // Steps of the prompt, sampled tokens, groups of chosen ones, the last logits. Every step on the
  // CPU; elsewhere, where a new device takes its time, some of each kind.
  const uint32_t steps = fault.counted();
  ASSERT_GT(steps, 20u);
  std::vector<uint32_t> places = {0, 2, 5, 9, 10, 11, steps - 4, steps - 2, steps - 1};
  if (setup.options.backend != "webgpu") {
    places.resize(steps);
    std::iota(places.begin(), places.end(), 0);
  }
  for (const uint32_t step : places) {
    fault.after_steps = step;
    fault.before_it_runs = step % 2 == 1;
    fault.destroys = step % 3 == 0;
    fault.times = fault.losses + 1;
    fault.opened = 0;
    fault.notices.clear();
    fault.count_from_here();
    const auto sequence = run(**engine, ids);
    ASSERT_TRUE(sequence) << "step " << step << ": " << sequence.error().message;
    EXPECT_EQ(sequence->ids, expected->ids) << "step " << step;
    EXPECT_TRUE(*sequence == *expected) << "step " << step << ": other bits";
    // How many steps a group has depends on what has arrived: a quick device may take fewer groups.
    if (fault.losses < fault.times && fault.counted() <= step) continue;
    EXPECT_EQ(fault.losses, fault.times) << "step " << step << " never ran";
    EXPECT_EQ(fault.opened, 1u) << "step " << step;
    ASSERT_EQ(fault.notices.size(), 1u) << "step " << step;
    EXPECT_TRUE(fault.notices[0].ends_with(
        ". It has been opened again, and what ran goes on from where it was."))
        << fault.notices[0];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, DeviceLoss,
    testing::Combine(testing::Values("gemma3_hub", "gemma4_moe", "lfm2", "llama_tied_rope3",
                                     "phi3_longrope", "qwen3_5_text"),
                     testing::Values(setup_named("cpu_fast"), setup_named("webgpu_f32"))),
    model_and_device);

struct LostDevice : testing::TestWithParam<DeviceSetup> {
  const DeviceSetup& setup = GetParam();
  const std::string model = model_folder("llama_tied_rope3");
  const std::vector<uint32_t> ids = prompt_ids();
  Fault fault;

  void SetUp() override { require_device(setup); }
};

TEST_P(LostDevice, ChangesNothingInAnEmbedding) {
  const auto engine = open_fragile(kEncoder, setup.options, fault);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto expected = (*engine)->embed(ids);
  ASSERT_TRUE(expected) << expected.error().message;
  fault.after_steps = 0;
  fault.count_from_here();
  const auto again = (*engine)->embed(ids);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *expected);
  EXPECT_EQ(fault.losses, 1u);
}

TEST_P(LostDevice, BetweenTwoSequencesIsOpenedAgainByTheNext) {
  const auto engine = open_fragile(model, setup.options, fault);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto expected = run(**engine, ids);
  ASSERT_TRUE(expected) << expected.error().message;
  fault.after_steps = 0;
  fault.count_from_here();
  {
    auto session = (*engine)->start();
    ASSERT_TRUE(session);
    const std::vector<uint32_t> some = {1, 2, 3};
    // Its own call is lost as well, and restored; what follows finds a device.
    ASSERT_TRUE(session->feed(some));
  }
  const auto again = run(**engine, ids);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(*again == *expected);
}

TEST_P(LostDevice, AgainAndAgainIsAnErrorAndTheNextCallContinues) {
  const auto engine = open_fragile(model, setup.options, fault);
  ASSERT_TRUE(engine) << engine.error().message;
  auto session = (*engine)->start();
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->feed(ids));
  const uint32_t id = 17;
  const auto logits = session->feed({&id, 1});
  ASSERT_TRUE(logits);
  const std::vector<float> expected(logits->begin(), logits->end());

  auto broken = (*engine)->start();
  ASSERT_TRUE(broken);
  ASSERT_TRUE(broken->feed(ids));
  fault.after_steps = 0;
  fault.times = 3;
  fault.count_from_here();
  const auto lost = broken->feed({&id, 1});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kDeviceLost);
  EXPECT_NE(lost.error().message.find("lost 3 times"), std::string::npos) << lost.error().message;
  EXPECT_EQ(broken->position(), ids.size());
  EXPECT_EQ(fault.opened, 3u);  // the first one and two more
  const auto again = broken->feed({&id, 1});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(std::vector<float>(again->begin(), again->end()), expected);
}

TEST_P(LostDevice, ThatIsGoneIsAnErrorUntilItIsBack) {
  bool is_back = false;
  OpenOptions options = setup.options;
  options.reopen = [&]() -> Result<std::unique_ptr<Backend>> {
    if (!is_back) return fail(ErrorCode::kDevice, "No WebGPU device was found.");
    return FragileBackend::open(setup.options, fault);
  };
  const auto engine = open_fragile(model, options, fault);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto expected = run(**engine, ids);
  ASSERT_TRUE(expected) << expected.error().message;
  fault.after_steps = 4;
  fault.count_from_here();
  for (int turn = 0; turn < 2; ++turn) {
    const auto gone = run(**engine, ids);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, ErrorCode::kDevice);
    EXPECT_TRUE(
        gone.error().message.ends_with("It cannot be opened again: No WebGPU device was found."))
        << gone.error().message;
    EXPECT_FALSE((*engine)->device().name.empty());
    EXPECT_FALSE((*engine)->program().plan().phases.empty());
    EXPECT_TRUE(fault.notices.empty());
  }
  is_back = true;
  const auto again = run(**engine, ids);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(*again == *expected);
}

TEST_P(LostDevice, IsNotReplacedByAnother) {
  OpenOptions options = setup.options;
  OpenOptions other = setup.options;
  if (setup.options.backend != "webgpu") {
    other.backend = "webgpu";
    require_device(setup_named("webgpu_f32"));
    if (IsSkipped()) return;
  } else {
    other.backend = "cpu-reference";
  }
  options.reopen = [&] { return FragileBackend::open(other, fault); };
  const auto engine = open_fragile(model, options, fault);
  ASSERT_TRUE(engine) << engine.error().message;
  fault.after_steps = 4;
  fault.count_from_here();
  const auto gone = run(**engine, ids);
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("In its place there is"), std::string::npos)
      << gone.error().message;
}

TEST_P(LostDevice, IsAnErrorWhereNobodyCanOpenIt) {
  ModelFiles files = *read_model_files(model);
  auto backend = FragileBackend::open(setup.options, fault);
  ASSERT_TRUE(backend);
  const auto engine =
      Engine::load(std::move(files), *std::move(backend), setup.options, steady_clock());
  ASSERT_TRUE(engine) << engine.error().message;
  fault.after_steps = 4;
  fault.count_from_here();
  const auto gone = run(**engine, ids);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kDeviceLost);
  EXPECT_NE(gone.error().message.find("pulled out"), std::string::npos) << gone.error().message;
  EXPECT_EQ(gone.error().message.find("times"), std::string::npos) << gone.error().message;
}

TEST_P(LostDevice, WhileTheModelLoadsIsAnError) {
  if (setup.options.backend != "webgpu") GTEST_SKIP() << "The CPU is not lost while it loads.";
  ModelFiles files = *read_model_files(model);
  auto device = open_webgpu_device({});
  ASSERT_TRUE(device) << device.error().message;
  OpenOptions options = setup.options;
  options.progress = [&](uint64_t, uint64_t) {
    wgpuDeviceForceLoss((*device)->handle(), WGPUDeviceLostReason_Unknown, wgpu_text("pulled out"));
    return true;
  };
  const auto engine =
      Engine::load(std::move(files), make_webgpu_backend(*device), options, steady_clock());
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kDeviceLost);
  EXPECT_NE(engine.error().message.find("pulled out"), std::string::npos) << engine.error().message;
}

INSTANTIATE_TEST_SUITE_P(Devices, LostDevice,
                         testing::Values(setup_named("cpu_fast"), setup_named("webgpu_f32")),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tokamak::golden
