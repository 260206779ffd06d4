// Devices with some layers each give to the bit what one with all of them gives: they run the same
// kernels on the same values.
#include "backend/stages.h"

#include "backend/webgpu/adapters.h"
#include "golden/reference.h"

namespace tokamak::golden {
namespace {

struct Answers {
  std::vector<uint32_t> greedy, drawn;
  std::vector<float> logits;  // after a prompt of several chunks, which begins as others did
};

/// Tokens that the device chooses by itself, with and without a number at random, and logits.
Answers answers_of(Engine& engine) {
  Answers out;
  Request request;
  for (uint32_t i = 0; i < 40; ++i) request.prompt.push_back((i * 37 + 11) % 300);
  request.params.max_tokens = 12;
  request.params.end_ids.emplace();
  request.params.sampling.temperature = 0;
  const auto ids = [&] {
    const auto done = engine.generate(request);
    EXPECT_TRUE(done) << done.error().message;
    return done ? done->ids : std::vector<uint32_t>();
  };
  out.greedy = ids();
  request.params.sampling = {.temperature = 0.9, .top_k = 20, .repetition_penalty = 1.1, .seed = 7};
  out.drawn = ids();
  request.prompt.insert(request.prompt.end(), out.drawn.begin(), out.drawn.end());
  out.logits = logits_of_request(engine, request.prompt);
  return out;
}

OpenOptions options_of(const std::string& model, const char* backend) {
  OpenOptions options{.model = model_folder(model), .backend = backend, .context = 128};
  options.chunk = 32;
  options.self_test = options.use_tuned = false;
  return options;
}

std::unique_ptr<Engine> engine_of(const OpenOptions& options, std::vector<StageDevice> devices) {
  auto files = read_model_files(options.model);
  EXPECT_TRUE(files) << files.error().message;
  auto backend = make_stages(std::move(devices));
  EXPECT_TRUE(backend) << backend.error().message;
  if (!files || !backend) return nullptr;
  auto engine = Engine::load(*std::move(files), *std::move(backend), options, steady_clock());
  EXPECT_TRUE(engine) << engine.error().message;
  return engine ? *std::move(engine) : nullptr;
}

void expect_the_bits_of_one(const OpenOptions& options) {
  const auto one = Engine::open(options);
  ASSERT_TRUE(one) << one.error().message;
  std::vector<StageDevice> devices;
  for (int i = 0; i < 2; ++i) {
    auto device = open_backend(options);
    ASSERT_TRUE(device) << device.error().message;
    devices.push_back({*std::move(device)});
  }
  const auto two = engine_of(options, std::move(devices));
  ASSERT_NE(two, nullptr);
  const Answers expected = answers_of(**one), found = answers_of(*two);
  ASSERT_EQ(expected.greedy.size(), 12u);
  EXPECT_EQ(found.greedy, expected.greedy);
  EXPECT_EQ(found.drawn, expected.drawn);
  ASSERT_FALSE(expected.logits.empty());
  EXPECT_EQ(found.logits, expected.logits);
}

/// Windows; recurrent layers; values of every layer that are made in front of the first.
struct StagesOnTheCpu : testing::TestWithParam<const char*> {};
TEST_P(StagesOnTheCpu, GiveTheBitsOfOneDevice) {
  expect_the_bits_of_one(options_of(GetParam(), "cpu-reference"));
}
INSTANTIATE_TEST_SUITE_P(Models, StagesOnTheCpu,
                         testing::Values("gemma3_hub", "qwen3_5_text", "gemma4_ple"));

TEST(StagesOnWebGpu, GiveTheBitsOfOneDevice) {
  require_device(setup_named("webgpu_f16"));
  if (testing::Test::IsSkipped()) return;
  expect_the_bits_of_one(options_of("llama_untied", "webgpu"));
}

TEST(StagesOnTheCpu, AreAtMostAsManyAsTheLayers) {
  OpenOptions options = options_of("llama_untied", "cpu-reference");
  options.gpus = {0, 1, 2, 3, 4, 5, 6};
  options.split = "layers";
  const auto engine = Engine::open(options);
  ASSERT_FALSE(engine);
  EXPECT_NE(engine.error().message.find(
                "gpus are 7, but the model can be cut into 3 only: as many as it has layers"),
            std::string::npos)
      << engine.error().message;
}

}  // namespace
}  // namespace tokamak::golden
