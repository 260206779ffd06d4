// One device gives the same bits again: tokens that it chooses, tokens drawn with a seed, and the
// logits they are drawn from, in one engine and in one opened again.
#include <algorithm>

#include "backend/webgpu/adapters.h"
#include "generate/sample/sampler.h"
#include "reliability/model_on_device.h"

namespace tokamak::golden {
namespace {

constexpr uint32_t kSampled = 16, kGreedy = 24;

struct Answer {
  std::vector<uint32_t> ids;
  std::vector<float> logits;  // after the prompt, and after all
  bool operator==(const Answer&) const = default;
};

Result<Answer> answer(Engine& engine, std::span<const uint32_t> prompt,
                      const SamplingParams& sampling) {
  Answer out;
  TOK_TRY(const Scheduler* scheduler, engine.scheduler());
  const auto keep = [&](std::span<const float> logits) {
    out.logits.insert(out.logits.end(), logits.begin(), logits.end());
  };
  Request request{.prompt = {prompt.begin(), prompt.end()}};
  request.tenant = fmt::format("{}", scheduler->stats().steps);  // nothing is shared
  request.params.sampling = sampling;
  request.params.max_tokens = sampling.temperature == 0 ? kGreedy : kSampled;
  request.params.end_ids.emplace();
  request.logits = keep;
  Request after = request;
  TOK_TRY(const Generation done, engine.generate(std::move(request)));
  out.ids = done.ids;
  after.prompt.insert(after.prompt.end(), done.ids.begin(), done.ids.end());
  after.params.max_tokens = 0;
  TOK_TRY(engine.generate(std::move(after)));
  return out;
}

Result<Answer> sampled(Engine& engine, std::span<const uint32_t> prompt, uint64_t seed) {
  return answer(engine, prompt, {.temperature = 1.2, .top_k = 100, .top_p = 0.98, .seed = seed});
}

/// Chosen on the device, several steps ahead.
Result<Answer> greedy(Engine& engine, std::span<const uint32_t> prompt) {
  return answer(engine, prompt, {.temperature = 0});
}

struct Determinism : ModelOnDevice {};

TEST_P(Determinism, SeededAndGreedyRunsRepeatBitForBit) {
  std::vector<Answer> draws, choices;
  for (int turn = 0; turn < 2; ++turn) {
    const auto engine = open(model_folder(model), setup);
    ASSERT_NE(engine, nullptr);
    for (int run = 0; run < 2; ++run) {
      auto drawn = sampled(*engine, ids, 7), chosen = greedy(*engine, ids);
      ASSERT_TRUE(drawn) << drawn.error().message;
      ASSERT_TRUE(chosen) << chosen.error().message;
      draws.push_back(*std::move(drawn));
      choices.push_back(*std::move(chosen));
    }
    const auto other = sampled(*engine, ids, 8);
    ASSERT_TRUE(other);
    EXPECT_NE(other->ids, draws[0].ids) << "the seed draws nothing";
  }
  for (size_t run = 1; run < draws.size(); ++run) {
    EXPECT_EQ(draws[run].ids, draws[0].ids) << run;
    EXPECT_TRUE(draws[run] == draws[0]) << "other bits in run " << run;
    EXPECT_EQ(choices[run].ids, choices[0].ids) << run;
    EXPECT_TRUE(choices[run] == choices[0]) << "other bits in run " << run;
  }
}

TEST(SubmitLimits, ChangeNoBit) {
  require_device(setup_named("webgpu_f32"));
  if (testing::Test::IsSkipped()) return;
  std::vector<Answer> draws, choices;
  for (const uint32_t dispatches : {0u, 3u}) {
    auto files = read_model_files(model_folder("llama_tied_rope3"));
    ASSERT_TRUE(files) << files.error().message;
    auto device = open_webgpu_device({.submit_dispatches = dispatches});
    ASSERT_TRUE(device) << device.error().message;
    const auto engine = Engine::load(*std::move(files), make_webgpu_backend(*device),
                                     setup_named("webgpu_f32").options, steady_clock());
    ASSERT_TRUE(engine) << engine.error().message;
    auto drawn = sampled(**engine, prompt_ids(), 7), chosen = greedy(**engine, prompt_ids());
    ASSERT_TRUE(drawn) << drawn.error().message;
    ASSERT_TRUE(chosen) << chosen.error().message;
    draws.push_back(*std::move(drawn));
    choices.push_back(*std::move(chosen));
  }
  EXPECT_TRUE(draws[1] == draws[0]);
  EXPECT_TRUE(choices[1] == choices[0]);
}

INSTANTIATE_TEST_SUITE_P(
    Models, Determinism,
    testing::Combine(testing::Values("gemma3_hub", "gemma4_moe", "gemma4_ple", "lfm2",
                                     "llama_mlx4_g64", "llama_tied_rope3", "phi3_longrope",
                                     "qwen3_5_text", "qwen3_moe"),
                     testing::Values(setup_named("cpu_fast"), setup_named("webgpu_f32"),
                                     setup_named("webgpu_f16"))),
    model_and_device);

}  // namespace
}  // namespace tokamak::golden
