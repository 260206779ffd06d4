// Tokens that are drawn from the lists that the device makes are those drawn from all logits.
#include <algorithm>

#include "generate/sampled_decoder.h"
#include "generate/token_list.h"
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

struct SampledList {
  std::vector<uint32_t> ids;
  std::vector<float> logits;  // after the last
  Readbacks readbacks;
};

enum class By : uint8_t { kAllLogits, kLists, kGuesses };

Result<SampledList> draw(Engine& engine, std::span<const uint32_t> prompt,
                         const SamplingParams& params, By by) {
  SampledList out;
  TOK_TRY(Sampler sampler, Sampler::make(params));
  TOK_TRY(Session session, engine.start());
  SampledDecoder drawing(session, sampler);
  std::vector<uint32_t> history(prompt.begin(), prompt.end());
  TOK_TRY(std::span<const float> logits, session.feed(prompt));
  const auto take = [&](uint32_t id) {
    out.ids.push_back(id);
    history.push_back(id);
    return true;
  };
  TOK_TRY(const uint32_t first, sampler.next(logits, history, 0));
  take(first);
  while (out.ids.size() <= kCount) {
    const uint32_t step = uint32_t(out.ids.size());
    if (by == By::kGuesses) {
      TOK_TRY(drawing.run(kCount + 1 - step, history, step, take));
    } else if (by == By::kLists) {
      TOK_TRY(const uint32_t id, drawing.next(history.back(), history, step));
      take(id);
    } else {
      TOK_TRY(logits, session.feed({&history.back(), 1}));
      TOK_TRY(const uint32_t id, sampler.next(logits, history, step));
      take(id);
    }
  }
  TOK_TRY(logits, session.feed({&history.back(), 1}));
  out.logits.assign(logits.begin(), logits.end());
  out.readbacks = drawing.readbacks();
  return out;
}

TEST_P(Sampled, FromListsIsFromAllLogits) {
  const auto engine = open_model();
  ASSERT_NE(engine, nullptr);
  uint64_t lists = 0, all = 0, guesses = 0, wrong = 0;
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(&setting - kSettings);
    const auto expected = draw(*engine, prompt, setting.params, By::kAllLogits);
    ASSERT_TRUE(expected) << expected.error().message;
    for (const By by : {By::kLists, By::kGuesses}) {
      const auto drawn = draw(*engine, prompt, setting.params, by);
      ASSERT_TRUE(drawn) << drawn.error().message;
      const Readbacks& readbacks = drawn->readbacks;
      EXPECT_EQ(drawn->ids, expected->ids);
      EXPECT_EQ(drawn->logits, expected->logits) << "the sequence is another one";
      EXPECT_EQ(readbacks.lists + readbacks.all, kCount);
      if (model == kStoryteller) {
        EXPECT_GE(readbacks.lists, setting.least_lists);
        EXPECT_GE(readbacks.all, setting.least_all);
        const bool guesses_here = by == By::kGuesses && can_guess(setting.params);
        EXPECT_EQ(readbacks.guesses > 0, guesses_here && setting.least_lists > 0);
      }
      lists += readbacks.lists;
      all += readbacks.all;
      guesses += readbacks.guesses;
      wrong += readbacks.wrong;
    }
  }
  EXPECT_LE(wrong, guesses / 50) << "the device draws otherwise";
  fmt::print("{} {}: {} tokens from lists, {} of {} of them guessed wrongly; {} from all logits\n",
             model, setup.name, lists, wrong, guesses, all);
}

/// Where the list is not enough, the logits are those that feed() gives, and the sequence goes on.
TEST_P(Sampled, LogitsAfterAListAreThoseOfFeed) {
  const auto engine = open_model();
  ASSERT_NE(engine, nullptr);
  std::vector<float> rows[2];
  for (const bool by_lists : {false, true}) {
    auto session = engine->start();
    ASSERT_TRUE(session);
    ASSERT_TRUE(session->feed(prompt));
    for (uint32_t id = 1; id < 6; ++id) {
      if (by_lists) {
        ASSERT_TRUE(session->feed_for_list(id, 1));
      }
      auto logits = by_lists ? session->logits_after_list() : session->feed({&id, 1});
      ASSERT_TRUE(logits) << logits.error().message;
      EXPECT_EQ(logits->size(), engine->compiled().facts.vocab);
      EXPECT_EQ(session->position(), prompt.size() + id);
      rows[by_lists].insert(rows[by_lists].end(), logits->begin(), logits->end());
    }
  }
  EXPECT_EQ(rows[0], rows[1]);
}

/// Where a grammar says what may follow, lists give what all logits do, too: log-probabilities need
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
INSTANTIATE_TEST_SUITE_P(Storyteller, Sampled,
                         testing::Combine(testing::Values(kStoryteller),
                                          testing::Values(setups()[0], setups()[2])),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Storyteller, SampledByGrammar,
                         testing::Combine(testing::Values(kStoryteller),
                                          testing::Values(setups()[0], setups()[2])),
                         name_of);

}  // namespace
}  // namespace tokamak::golden
