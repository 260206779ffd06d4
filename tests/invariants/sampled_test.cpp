// Tokens that are drawn from the lists that the device makes are those drawn from all logits.
#include <algorithm>

#include "generate/sample/token_list.h"
#include "golden/reference.h"

namespace tokamak::golden {
namespace {

constexpr uint32_t kCount = 16;

/// Random weights make flat logits, of which a list holds little; the storyteller's are a model's.
constexpr const char* kStoryteller = "storyteller";

struct Setting {
  SamplingParams params;
  uint32_t least_lists = 0, least_all = 0;  // of kCount steps of the storyteller
};
const Setting kSettings[] = {
    {{.temperature = 1, .seed = 1}, 4},
    {{.temperature = 0.1, .seed = 2}, 13},
    {{.temperature = 5, .seed = 3}, 0, 4},
    {{.temperature = 1, .top_k = 40, .seed = 4}, 13},
    {{.temperature = 5, .top_k = 100, .seed = 5}, 13},
    {{.temperature = 1, .top_p = 0.9, .seed = 6}, 3},
    {{.temperature = 1, .min_p = 0.05, .seed = 7}, 13},
    {{.temperature = 0.8, .top_k = 40, .top_p = 0.95, .min_p = 0.05, .seed = 8}, 13},
    {{.temperature = 1, .top_p = 0.95, .min_p = 0.02, .seed = 9}, 6},
    {{.temperature = 1, .typical_p = 0.9, .seed = 10}, 0, kCount},
    {{.temperature = 0.7, .top_k = 20, .top_p = 0.8, .repetition_penalty = 1.1, .seed = 11}, 13},
    {{.temperature = 0, .repetition_penalty = 1.2}, 10},
    {{.temperature = 0.3, .min_p = 0.15, .repetition_penalty = 1.05, .seed = 12}, 10},
};

struct Sampled : testing::TestWithParam<std::tuple<std::string, DeviceSetup>> {
  const std::string& model = std::get<0>(GetParam());
  const DeviceSetup& setup = std::get<1>(GetParam());
  std::vector<uint32_t> prompt;

  void SetUp() override {
    require_device(setup);
    for (uint32_t i = 0; i < 20; ++i) prompt.push_back((i * 37 + 11) % 500);
  }

  std::unique_ptr<Engine> open_model() const {
    if (model != kStoryteller) return open(model_folder(model), setup);
    return open(TOKAMAK_SOURCE_DIR "/models/storyteller", setup);
  }
};

struct SampledTokens {
  std::vector<uint32_t> ids;
  std::vector<float> logprobs;
  uint64_t lists = 0, discarded = 0;  // of the steps: lists that were enough, those for nothing
};

/// From the device's lists, which it may go on from by itself, or from all logits.
Result<SampledTokens> draw(Engine& engine, const std::vector<uint32_t>& prompt,
                           const SamplingParams& sampling, bool from_all_logits) {
  SampledTokens out;
  TOK_TRY(const Scheduler* scheduler, engine.scheduler());
  const SchedulerStats before = scheduler->stats();
  // It has a tenant of its own: what is shared has run in other steps.
  Request request{.prompt = prompt, .tenant = fmt::format("{}", scheduler->stats().steps)};
  request.params.sampling = sampling;
  request.params.max_tokens = kCount + 1;
  request.params.end_ids.emplace();
  request.params.logprobs = from_all_logits;
  request.callbacks.token = [&](uint32_t, const Logprobs* own) {
    if (own != nullptr) out.logprobs.push_back(own->chosen.logprob);
  };
  TOK_TRY(const Generation done, engine.generate(std::move(request)));
  out.ids = done.ids;
  out.lists = scheduler->stats().listed_tokens - before.listed_tokens;
  out.discarded = scheduler->stats().discarded_tokens - before.discarded_tokens;
  return out;
}

TEST_P(Sampled, FromListsIsFromAllLogits) {
  const auto engine = open_model();
  ASSERT_NE(engine, nullptr);
  uint64_t lists = 0, discarded = 0;
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(&setting - kSettings);
    const auto expected = draw(*engine, prompt, setting.params, true);
    ASSERT_TRUE(expected) << expected.error().message;
    EXPECT_EQ(expected->lists, 0u);
    const auto drawn = draw(*engine, prompt, setting.params, false);
    ASSERT_TRUE(drawn) << drawn.error().message;
    EXPECT_EQ(drawn->ids, expected->ids);
    EXPECT_LE(drawn->lists, kCount);
    if (model == kStoryteller) {
      EXPECT_GE(drawn->lists, setting.least_lists);
      EXPECT_GE(kCount - drawn->lists, setting.least_all);
    }
    lists += drawn->lists;
    discarded += drawn->discarded;
  }
  fmt::print("{} {}: {} of {} tokens from lists, {} more for nothing\n", model, setup.name, lists,
             kCount * std::size(kSettings), discarded);
}

/// The logits of the tokens that were drawn are those of a session, too.
TEST_P(Sampled, AllLogitsAreThoseOfFeed) {
  const auto engine = open_model();
  ASSERT_NE(engine, nullptr);
  const auto drawn = draw(*engine, prompt, kSettings[0].params, true);
  ASSERT_TRUE(drawn) << drawn.error().message;
  auto session = engine->start();
  ASSERT_TRUE(session) << session.error().message;
  std::vector<float> expected;
  for (std::span<const uint32_t> fed = prompt; const uint32_t& id : drawn->ids) {
    const auto logits = session->feed(fed);
    ASSERT_TRUE(logits) << logits.error().message;
    expected.push_back(logprobs(*logits, id, 0)->chosen.logprob);
    fed = {&id, 1};
  }
  EXPECT_EQ(drawn->logprobs, expected);
}

/// A grammar decides what may follow, and lists give what all logits do: log-probabilities need
/// these at every step.
struct SampledByGrammar : Sampled {};

TEST_P(SampledByGrammar, FromListsIsFromAllLogits) {
  const auto engine = open_model();
  ASSERT_NE(engine, nullptr);
  auto grammar = Grammar::parse("root ::= (word \", \"){3} word \".\"\nword ::= [a-z ]{2,12}");
  ASSERT_TRUE(grammar) << grammar.error().message;
  GenerationParams params;
  params.grammar = std::make_shared<const Grammar>(*std::move(grammar));
  for (const SamplingParams& sampling :
       {SamplingParams{.temperature = 0},
        SamplingParams{.temperature = 0.8, .top_k = 20, .seed = 1},
        SamplingParams{.temperature = 1, .top_p = 0.9, .seed = 2}}) {
    params.sampling = sampling;
    std::vector<Generation> made;
    for (const bool logprobs : {false, true}) {
      params.logprobs = logprobs;
      auto one = engine->generate("Once upon a time", params);
      ASSERT_TRUE(one) << one.error().message;
      made.push_back(*std::move(one));
    }
    EXPECT_EQ(made[0].ids, made[1].ids);
    EXPECT_EQ(made[0].finish, FinishReason::kGrammar);
    EXPECT_EQ(std::ranges::count(made[0].text, ','), 3) << made[0].text;
    GrammarMatcher matcher(*params.grammar);
    EXPECT_TRUE(matcher.allows(made[0].text)) << made[0].text;
  }
}

std::string name_of(const testing::TestParamInfo<Sampled::ParamType>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}

const std::string kModels[] = {"gemma3_softcap", "lfm2", "llama_tied_rope3", "phi3_longrope",
                               "qwen3_5_text"};

INSTANTIATE_TEST_SUITE_P(
    Models, Sampled,
    testing::ValuesIn(in_turn(kModels, {{"cpu", "webgpu_f16"}, {"cpu", "webgpu_plain"}})), name_of);
INSTANTIATE_TEST_SUITE_P(Ranks, Sampled,
                         testing::Values(std::tuple("llama_tied_rope3",
                                                    setup_named("cpu_2_ranks"))),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Storyteller, Sampled,
                         testing::Combine(testing::Values(kStoryteller),
                                          testing::Values(setup_named("cpu_fast"),
                                                          setup_named("webgpu_f32"))),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Storyteller, SampledByGrammar,
                         testing::Combine(testing::Values(kStoryteller),
                                          testing::Values(setup_named("cpu_fast"),
                                                          setup_named("webgpu_f32"))),
                         name_of);

}  // namespace
}  // namespace tokamak::golden
