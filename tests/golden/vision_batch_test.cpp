// Prompts with images beside others: each gives the recorded tokens, whatever shares its steps, its
// pages and its device.
#include <map>
#include <optional>

#include "golden/vision_prompts.h"
#include "reliability/fragile_backend.h"

namespace tokamak::golden {
namespace {

constexpr uint32_t kTexts = 3, kTokens = 16;

using Tokens = std::map<uint32_t, Generation>;

Request request_of(const ImagePrompt& prompt, uint32_t tokens = kTokens) {
  Request request;
  request.prompt = prompt.ids;
  request.images = prompt.images;
  request.params.sampling.temperature = 0;
  request.params.max_tokens = tokens;
  return request;
}

/// Text of a length that its number says.
Request text_of(uint32_t number) {
  ImagePrompt prompt;
  for (uint32_t i = 0; i < 9 + 23 * number; ++i) prompt.ids.push_back((i * 37 + number) % 90);
  return request_of(prompt);
}

/// Runs that many requests, each made and added after some steps of those before it.
Tokens run(Engine& engine, uint32_t count, const std::function<Request(uint32_t)>& request) {
  Tokens out;
  Scheduler& scheduler = **engine.scheduler();
  for (uint32_t i = 0; i < count; ++i) {
    Request own = request(i);
    own.done = [&out, i](Result<Generation> done) {
      EXPECT_TRUE(done) << done.error().message;
      if (done) out[i] = *done;
    };
    const auto added = scheduler.add(std::move(own));
    EXPECT_TRUE(added) << added.error().message;
    for (uint32_t n = 0; n < 2; ++n) {
      EXPECT_TRUE(scheduler.step());
      EXPECT_TRUE(scheduler.wait());
    }
  }
  const auto ran = scheduler.run();
  EXPECT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(out.size(), count);
  return out;
}

Tokens run(Engine& engine, const std::vector<Request>& requests) {
  return run(engine, uint32_t(requests.size()), [&](uint32_t i) { return requests[i]; });
}

struct VisionBatch : testing::TestWithParam<ModelSetups::value_type> {
  DeviceSetup setup = std::get<1>(GetParam());
  std::optional<VisionModel> model;
  std::string folder;

  void SetUp() override {
    require_device(setup);
    if (IsSkipped()) return;
    model.emplace(std::get<0>(GetParam()));
    folder = model->folder();
    ASSERT_NE(model->golden().find("chats"), nullptr);
    setup.options.image_pixels = kImagePixels;
    setup.options.sequences = 3;
    setup.options.context = 192;
    if (setup.name == "cpu") setup.options.disabled_passes = kRoundingPasses;
  }

  const Json::Array& chats() const { return model->golden().find("chats")->as_array(); }
  /// The chats twice, and between them texts.
  std::vector<Request> mixed(Engine& engine) const {
    std::vector<Request> out;
    for (uint32_t round = 0; round < 2; ++round) {
      for (const Json& chat : chats()) out.push_back(request_of(prompt_of(engine, chat)));
      for (uint32_t i = 0; i < kTexts; ++i) out.push_back(text_of(i + round));
    }
    return out;
  }
  void expect_recorded(const Tokens& tokens, const Tokens& texts) const {
    for (const auto& [number, generation] : tokens) {
      const size_t place = number % (chats().size() + kTexts);
      SCOPED_TRACE(number);
      if (place < chats().size()) {
        // The record ends before a token that stands for an image.
        const std::vector<uint32_t> recorded = ids_of(*chats()[place].find("greedy")->find("ids"));
        std::vector<uint32_t> ids = generation.ids;
        ASSERT_FALSE(recorded.empty());
        if (recorded.size() < kTokens) ids.resize(recorded.size());
        EXPECT_EQ(ids, recorded);
      } else if (setup.name == "cpu") {  // elsewhere a choice may turn
        EXPECT_EQ(generation.ids, texts.at(number).ids);
      }
    }
  }
  /// The texts of mixed(), each by itself.
  Tokens texts_alone(Engine& engine, const std::vector<Request>& requests) const {
    Tokens out;
    for (uint32_t i = 0; i < requests.size(); ++i) {
      if (requests[i].images.empty()) out[i] = run(engine, {requests[i]}).at(0);
    }
    return out;
  }
};

TEST_P(VisionBatch, GivesTheRecordedTokensBesideText) {
  const auto engine = open(folder, setup), alone = open(folder, setup);
  ASSERT_TRUE(engine != nullptr && alone != nullptr);
  const std::vector<Request> requests = mixed(*engine);
  expect_recorded(run(*engine, requests), texts_alone(*alone, requests));
  const SchedulerStats stats = (*engine->scheduler())->stats();
  EXPECT_GT(stats.cached_tokens, 0u) << "the second round knows prompts of the first";
  EXPECT_EQ(stats.preemptions, 0u);
}

struct VisionBatchOnTheCpu : VisionBatch {
  /// One by which every run has the same steps.
  static Clock clock() {
    return [now = std::make_shared<double>(0)] { return *now += 1e-3; };
  }
};

TEST_P(VisionBatchOnTheCpu, GivesThemAgainWherePagesWereTaken) {
  setup.options.cache_tokens = setup.options.context + 16;
  const auto engine = open(folder, setup), alone = open(folder, setup);
  ASSERT_TRUE(engine != nullptr && alone != nullptr);
  std::vector<Request> requests = mixed(*engine);
  for (Request& request : requests) {
    if (request.images.empty()) request.params.max_tokens = 48;
  }
  expect_recorded(run(*engine, requests), texts_alone(*alone, requests));
  EXPECT_GT((*engine->scheduler())->stats().preemptions, 0u);
}

TEST_P(VisionBatchOnTheCpu, SharesNoPageOfAnotherImage) {
  const auto engine = open(folder, setup), other_engine = open(folder, setup);
  ASSERT_TRUE(engine != nullptr && other_engine != nullptr);
  // The second image has as many tokens, and the same placeholders.
  const Image image = image_of("photo420.jpg");
  Image other = image;
  for (uint8_t& sample : other.rgb) sample = uint8_t(255 - sample);
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < 40; ++i) ids.push_back(i + 1);
  const auto text = uint32_t(ids.size());
  ids.push_back(engine->compiled().vision->placeholder);
  for (uint32_t i = 0; i < 20; ++i) ids.push_back(60 - i);
  const auto ask = [&](Engine& own, const Image& about) {
    return run(own, {request_of(placed(own, ids, {&about, 1}))}).at(0);
  };
  const Generation first = ask(*engine, image), second = ask(*engine, other);
  EXPECT_LE(second.cached_tokens, text) << "no more than the text before the image";
  EXPECT_EQ(second.ids, ask(*other_engine, other).ids);
  EXPECT_NE(second.ids, first.ids);
  const Generation again = ask(*engine, image);
  EXPECT_EQ(again.ids, first.ids);
  EXPECT_GT(again.cached_tokens, text) << "the same image is part of what is known";
}

TEST_P(VisionBatchOnTheCpu, HasTheLogitsOfASession) {
  const auto engine = open(folder, setup);
  ASSERT_NE(engine, nullptr);
  for (const Json& chat : chats()) {
    SCOPED_TRACE(chat.find("name")->as_string());
    Request request = request_of(prompt_of(*engine, chat));
    const std::vector<uint32_t> prompt = request.prompt;
    std::vector<float> together;
    request.params.logprobs = true;
    request.callbacks.token = [&](uint32_t, const Logprobs* own) {
      together.push_back(own->chosen.logprob);
    };
    const std::vector<uint32_t> ids = run(*engine, {request}).at(0).ids;
    auto session = engine->start();
    ASSERT_TRUE(session) << session.error().message;
    std::vector<float> alone;
    for (std::span<const uint32_t> fed = prompt; const uint32_t& id : ids) {
      const auto logits = session->feed(fed);
      ASSERT_TRUE(logits) << logits.error().message;
      alone.push_back(logprobs(*logits, id, 0)->chosen.logprob);
      fed = {&id, 1};
    }
    EXPECT_LE(relative_error(alone, together), 1e-6);
  }
}

TEST_P(VisionBatchOnTheCpu, GivesThemAgainAfterALoss) {
  Fault fault;
  setup.options.reopen = [&] { return FragileBackend::open(setup.options, fault); };
  for (uint32_t step = 0, steps = 1; step < steps; step += 1 + steps / 16) {
    SCOPED_TRACE(step);
    auto files = read_model_files(folder);
    ASSERT_TRUE(files) << files.error().message;
    const auto engine = Engine::load(*std::move(files), *FragileBackend::open(setup.options, fault),
                                     setup.options, clock());
    ASSERT_TRUE(engine) << engine.error().message;
    fault.after_steps = step == 0 ? UINT32_MAX : step - 1;  // none, to count them
    fault.losses = 0;
    fault.count_from_here();
    // Towers run between the steps of others, and are lost there, too.
    const Tokens tokens = run(**engine, uint32_t(chats().size()), [&](uint32_t i) {
      return request_of(prompt_of(**engine, chats()[i]), 4);
    });
    for (const auto& [number, generation] : tokens) {
      const auto expected = ids_of(*chats()[number].find("greedy")->find("ids"));
      EXPECT_TRUE(std::ranges::equal(generation.ids, std::span(expected).first(4))) << number;
    }
    if (step == 0) steps = fault.counted() + 1;
    EXPECT_EQ(fault.losses, step == 0 ? 0u : 1u);
  }
}

const std::string kModels[] = {"gemma3_vl", "gemma4_vl", "qwen3_5_vl_images", "qwen3_vl",
                               "idefics3"};

std::string name_of(const testing::TestParamInfo<VisionBatch::ParamType>& param) {
  return std::get<0>(param.param) + "_" + std::get<1>(param.param).name;
}

INSTANTIATE_TEST_SUITE_P(Models, VisionBatch,
                         testing::ValuesIn(in_turn(kModels, {{"cpu", "webgpu_f16"},
                                                             {"cpu", "webgpu_matrix"},
                                                             {"cpu", "webgpu_f32"}})),
                         name_of);
/// The tower is whole on every rank.
INSTANTIATE_TEST_SUITE_P(Ranks, VisionBatch,
                         testing::Values(std::tuple("qwen3_vl", setup_named("cpu_2_ranks"))),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Models, VisionBatchOnTheCpu,
                         testing::ValuesIn(in_turn(kModels, {{"cpu"}})), name_of);

}  // namespace
}  // namespace tokamak::golden
