// Requests with grammars and penalties, side by side: the tokens are those that all logits give,
// and what a grammar leaves no choice for costs no steps.
#include "golden/reference.h"

namespace tokamak::golden {
namespace {

struct GrammarBatch : testing::TestWithParam<DeviceSetup> {
  void SetUp() override { require_device(GetParam()); }

  std::unique_ptr<Engine> open_for(uint32_t sequences) const {
    DeviceSetup changed = GetParam();
    if (changed.name == "cpu") changed.options.disabled_passes = kRoundingPasses;
    changed.options.sequences = sequences;
    changed.options.context = 128;
    changed.options.chunk = 32;
    return open(TOKAMAK_SOURCE_DIR "/models/storyteller", changed);
  }
};

std::shared_ptr<const Grammar> made(Result<Grammar> grammar) {
  EXPECT_TRUE(grammar) << grammar.error().message;
  return std::make_shared<const Grammar>(*std::move(grammar));
}

constexpr const char* kSchema =
    R"({"type": "object", "properties": {"name": {"type": "string", "maxLength": 8},
        "is_the_best_friend": {"type": "boolean"}, "age": {"type": "integer", "maximum": 99}},
        "required": ["name", "is_the_best_friend", "age"], "additionalProperties": false})";

struct Outcome {
  std::vector<Generation> made;
  SchedulerStats stats;
};

Outcome run(Engine& engine, const std::vector<GenerationParams>& all, bool logprobs) {
  Outcome outcome;
  outcome.made.resize(all.size());
  Scheduler* scheduler = *engine.scheduler();
  const auto prompt = (*engine.tokenizer())->encode("Once upon a time");
  EXPECT_TRUE(prompt);
  for (size_t i = 0; i < all.size(); ++i) {
    Request request{.prompt = *prompt, .params = all[i]};
    request.params.logprobs = logprobs;
    request.done = [&outcome, i](Result<Generation> done) {
      EXPECT_TRUE(done) << done.error().message;
      if (done) outcome.made[i] = *std::move(done);
    };
    EXPECT_TRUE(scheduler->add(std::move(request)));
  }
  const auto ran = scheduler->run();
  EXPECT_TRUE(ran) << ran.error().message;
  outcome.stats = scheduler->stats();
  return outcome;
}

/// The last two have no grammar, but a penalty that the device has to know.
std::vector<GenerationParams> requests() {
  const auto schema = made(Grammar::from_json_schema(kSchema));
  const auto words =
      made(Grammar::parse("root ::= (word \", \"){2} word \".\"\nword ::= [a-z ]{2,9}"));
  const SamplingParams last = {
      .temperature = 0.7, .min_p = 0.1, .repetition_penalty = 1.1, .seed = 4};
  return {{.sampling = {.temperature = 0}, .max_tokens = 24, .grammar = schema},
          {.sampling = {.temperature = 0.8, .top_k = 20, .seed = 1},
           .max_tokens = 24,
           .grammar = words},
          {.sampling = {.temperature = 1, .top_p = 0.9, .seed = 2},
           .max_tokens = 24,
           .grammar = schema},
          {.sampling = last, .max_tokens = 16, .grammar = words},
          {.sampling = {.temperature = 0.8, .top_k = 30, .repetition_penalty = 1.2, .seed = 5},
           .max_tokens = 16},
          {.sampling = {.temperature = 0, .repetition_penalty = 1.3}, .max_tokens = 16}};
}

/// Log-probabilities need all logits at every step.
TEST_P(GrammarBatch, GivesWhatAllLogitsGive) {
  const auto engine = open_for(4);
  ASSERT_NE(engine, nullptr);
  const std::vector<GenerationParams> all = requests();
  const Outcome lists = run(*engine, all, false), logits = run(*engine, all, true);
  size_t equal = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool same = lists.made[i].ids == logits.made[i].ids;
    EXPECT_TRUE(same || GetParam().name != "cpu")
        << i << ": " << lists.made[i].text << " and " << logits.made[i].text;
    equal += same ? 1 : 0;
    if (!all[i].grammar || lists.made[i].finish != FinishReason::kGrammar) continue;
    GrammarMatcher matcher(*all[i].grammar);
    ASSERT_TRUE(matcher.allows(lists.made[i].text)) << lists.made[i].text;
  }
  EXPECT_GE(equal, all.size() - 1);
  EXPECT_GT(lists.stats.forced_tokens, 0u);
}

TEST_P(GrammarBatch, DrawsWithAPenaltyAsAloneAndInFewSteps) {
  const auto engine = open_for(4);
  ASSERT_NE(engine, nullptr);
  const std::vector<GenerationParams> all = requests();
  const std::vector<GenerationParams> own(all.end() - 2, all.end());
  const Outcome together = run(*engine, own, false);
  // A wrong guess of the device, by another penalty than the host's, would be made again.
  EXPECT_LE(together.stats.discarded_tokens, 16u);
  size_t equal = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    const bool same = run(*engine, {own[i]}, false).made[0].ids == together.made[i].ids;
    EXPECT_TRUE(same || GetParam().name != "cpu") << i;
    equal += same ? 1 : 0;
  }
  EXPECT_GE(equal, own.size() - 1);
}

TEST_P(GrammarBatch, ReadsWhatIsForcedInOneStep) {
  const auto engine = open_for(2);
  ASSERT_NE(engine, nullptr);
  const GenerationParams params{
      .sampling = {.temperature = 0},
      .max_tokens = 60,
      .grammar = made(Grammar::parse(
          "root ::= (\" He\" | \" She\") \" went into the house and looked for a key.\" [a-z]"))};
  const Outcome one = run(*engine, {params}, false);
  const Generation& made = one.made[0];
  EXPECT_EQ(made.finish, FinishReason::kGrammar);
  EXPECT_NE(made.text.find(" went into the house and looked for a key."), std::string::npos);
  EXPECT_GT(one.stats.forced_tokens, 5u);
  // The prompt, what the forced ones are read in, and those that were chosen.
  EXPECT_LE(one.stats.steps, 2 + made.ids.size() - one.stats.forced_tokens);
  // They are as the tokenizer cuts the text, which is not said of what the model chose before them.
  const auto ids = (*engine->tokenizer())->encode(made.text, {.add_special = false});
  ASSERT_TRUE(ids);
  const auto end = [&](const std::vector<uint32_t>& all) {
    return std::vector(all.end() - ptrdiff_t(one.stats.forced_tokens), all.end());
  };
  EXPECT_EQ(end(made.ids), end(*ids));
  // Beside others a short one goes token by token: the tokens are the same.
  for (const Generation& other : run(*engine, {params, params}, false).made) {
    EXPECT_EQ(other.text, made.text);
  }
}

INSTANTIATE_TEST_SUITE_P(Storyteller, GrammarBatch,
                         testing::Values(setup_named("cpu_fast"), setup_named("webgpu_f32"),
                                         setup_named("cpu_fast_2_ranks")),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tokamak::golden
