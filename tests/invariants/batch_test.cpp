// Many requests at once give the tokens that each gives alone, whatever runs beside them.
#include <algorithm>

#include "golden/reference.h"
#include "invariants/batch_requests.h"

namespace tokamak::golden {
namespace {

constexpr uint32_t kContext = 96, kSequences = 3;

struct Batch : testing::TestWithParam<std::tuple<std::string, DeviceSetup>> {
  const std::string& model = std::get<0>(GetParam());
  const DeviceSetup& setup = std::get<1>(GetParam());

  void SetUp() override { require_device(setup); }

  std::unique_ptr<Engine> open_for(uint32_t sequences, uint32_t cache_tokens = 0,
                                   bool batch_invariant = false,
                                   const std::string& speculate = "off") {
    DeviceSetup changed = setup;
    changed.options.batch_invariant = batch_invariant;
    changed.options.speculate = speculate;
    if (setup.name == "cpu") changed.options.disabled_passes = kRoundingPasses;
    changed.options.context = kContext;
    changed.options.chunk = 24;
    changed.options.sequences = sequences;
    changed.options.cache_tokens = cache_tokens;
    return open(model_folder(model), changed, false);
  }
};

TEST_P(Batch, GivesEveryRequestTheTokensThatItGivesAlone) {
  const auto alone = open_for(1), together = open_for(kSequences);
  ASSERT_NE(alone, nullptr);
  ASSERT_NE(together, nullptr);
  const std::vector<Request> requests = requests_for(alone->compiled().facts.vocab);
  const Outcome outcome = run_all(*together, requests);
  expect_same(run_alone(*alone, requests), outcome, setup.name == "cpu");
  EXPECT_EQ(outcome.stats.running + outcome.stats.waiting, 0u);
  EXPECT_EQ(outcome.stats.free_pages + outcome.stats.cached_pages, outcome.stats.pages);
}

TEST_P(Batch, KeepsNoPrefixThatASessionHasWrittenOver) {
  const auto engine = open_for(kSequences);
  ASSERT_NE(engine, nullptr);
  const uint32_t vocab = engine->compiled().facts.vocab;
  const std::vector<Request> requests = requests_for(vocab);
  const Outcome before = run_all(*engine, requests);
  auto session = engine->start();
  ASSERT_TRUE(session) << session.error().message;
  const std::vector<uint32_t> other(kContext, vocab / 2);
  ASSERT_TRUE(session->feed(other));
  const Outcome after = run_all(*engine, requests);
  if (setup.name == "cpu") {
    EXPECT_EQ(before.texts, after.texts);
  }
  EXPECT_FALSE(session->feed({other.data(), 1})) << "requests have taken its place";
}

TEST_P(Batch, ComputesAgainWhatHadToGiveItsPagesBack) {
  const auto alone = open_for(1), together = open_for(kSequences, kContext + 16);
  ASSERT_NE(alone, nullptr);
  ASSERT_NE(together, nullptr);
  std::vector<Request> requests = requests_for(alone->compiled().facts.vocab);
  for (Request& request : requests) request.params.max_tokens += setup.name == "cpu" ? 14 : 0;
  const Outcome outcome = run_all(*together, requests);
  expect_same(run_alone(*alone, requests), outcome, setup.name == "cpu");
  EXPECT_EQ(outcome.stats.free_pages + outcome.stats.cached_pages, outcome.stats.pages);
  EXPECT_TRUE(outcome.stats.preemptions > 0 || setup.name != "cpu");
}

/// On a device, opened for that.
struct BatchInvariant : Batch {};

TEST_P(BatchInvariant, GivesTheVeryNumbersWhateverRunsBesideOrIsGuessed) {
  const auto engine = open_for(kSequences, kContext + 16, true, "lookup:4");
  ASSERT_NE(engine, nullptr);
  std::vector<Request> requests = requests_for(engine->compiled().facts.vocab);
  std::vector<std::vector<float>> logprobs(requests.size());
  for (uint32_t i = 0; i < requests.size(); ++i) {
    requests[i].params.max_tokens += 14;
    if (i % 2 == 1) continue;  // these run ahead of the host
    requests[i].params.logprobs = true;
    requests[i].callbacks.token = [&logprobs, i](uint32_t, const Logprobs* own) {
      logprobs[i].push_back(own->chosen.logprob);
    };
  }
  const Outcome together = run_all(*engine, requests);
  EXPECT_GT(together.stats.preemptions, 0u);
  EXPECT_GT(together.stats.cached_tokens, 0u);
  EXPECT_TRUE(together.stats.drafts > 0 || model == "qwen3_5_text")
      << "its states take nothing back";
  const auto again = open_for(kSequences, 0, true);  // which has kept no prefixes
  ASSERT_NE(again, nullptr);
  const auto before = std::exchange(logprobs, {requests.size(), std::vector<float>()});
  expect_same(run_alone(*again, requests), together, true);
  EXPECT_EQ(logprobs, before);
}

const std::string kModels[] = {"gemma3_hub",       "gemma4_moe",    "gemma4_ple", "qwen3_5_text",
                               "llama_tied_rope3", "phi3_longrope", "lfm2",       "qwen3_moe"};

INSTANTIATE_TEST_SUITE_P(Models, Batch,
                         testing::ValuesIn(in_turn(kModels, {{"cpu", "webgpu_f32"},
                                                             {"cpu", "cpu_2_ranks"},
                                                             {"cpu", "cpu_2_stages"}})),
                         [](const auto& one) {
                           return std::get<0>(one.param) + "_" + std::get<1>(one.param).name;
                         });

/// Windows, recurrent states and experts, on each kind of device that there is.
ModelSetups invariant_setups() {
  static const std::string models[] = {"gemma3_hub", "qwen3_5_text", "qwen3_moe"};
  ModelSetups all = in_turn(models, {{"webgpu_f32", "webgpu_matrix"}});
  for (const DeviceSetup& setup : setups()) {
    if (setup.options.backend != "cuda") continue;
    for (const std::string& model : models) all.emplace_back(model, setup);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, BatchInvariant, testing::ValuesIn(invariant_setups()),
                         [](const auto& one) {
                           return std::get<0>(one.param) + "_" + std::get<1>(one.param).name;
                         });

}  // namespace
}  // namespace tokamak::golden
