// The model that comes with the program, from text to text: ids, logits, greedy stories, chats and
// the perplexity of a text, as transformers recorded them.
#include <algorithm>
#include <cmath>

#include "golden/reference.h"

namespace tokamak::golden {
namespace {

constexpr const char* kModel = TOKAMAK_SOURCE_DIR "/models/storyteller";
constexpr const char* kData = TOKAMAK_TEST_DATA "/storyteller/";
constexpr uint32_t kGreedyTokens = 64;
/// Relative to the perplexity, on any device.
constexpr double kPerplexity = 0.05;

struct Storyteller : testing::TestWithParam<DeviceSetup> {
  const DeviceSetup& setup = GetParam();
  Json golden;

  void SetUp() override {
    require_device(setup);
    if (IsSkipped()) return;
    golden = read_json(std::string(kData) + "golden.json");
    ASSERT_NE(golden.find("cases"), nullptr);
    ASSERT_GE(golden.find("cases")->as_array().size(), 4u);
    ASSERT_NE(golden.find("eval"), nullptr);
  }
};

bool is_chat(const Json& c) {
  return c.find("kind")->as_string() == "chat";
}

/// The prompt as the model reads it.
Result<std::string> prompt_of(const Engine& engine, const Json& c) {
  const std::string& prompt = c.find("prompt")->as_string();
  if (!is_chat(c)) return prompt;
  Json message, variables;
  message.set("role", "user").set("content", prompt);
  variables.set("messages", Json::Array{message}).set("add_generation_prompt", true);
  return engine.render_chat(variables);
}

/// Greedy tokens equal the recorded ones up to a step at which the two best are too close for this
/// setup. Gives the number of equal tokens.
size_t expect_greedy(const Json& c, const std::vector<uint32_t>& ids, double allowed) {
  const std::vector<uint32_t> wanted = ids_of(*c.find("greedy_ids"));
  const std::vector<float> margins = floats_of(*c.find("greedy_margins"));
  EXPECT_EQ(margins.size(), wanted.size());
  const auto [own, recorded] = std::ranges::mismatch(ids, wanted);
  const auto equal = size_t(recorded - wanted.begin());
  if (equal < wanted.size()) {
    EXPECT_LE(double(margins.at(equal)), allowed) << "token " << equal << " differs";
  } else {
    EXPECT_EQ(ids.size(), wanted.size());
  }
  return equal;
}

/// Up to `count` greedy tokens after `logits`; ends with an end token.
std::vector<uint32_t> continue_greedily(Session& session, std::span<const float> logits,
                                        const std::vector<uint32_t>& end_ids, size_t count) {
  std::vector<uint32_t> ids;
  for (;;) {
    ids.push_back(uint32_t(argmax(logits)));
    if (ids.size() == count || std::ranges::find(end_ids, ids.back()) != end_ids.end()) return ids;
    const auto next = session.feed({&ids.back(), 1});
    if (!next) {
      ADD_FAILURE() << next.error().message;
      return ids;
    }
    logits = *next;
  }
}

TEST_P(Storyteller, ContinuesAsRecorded) {
  const auto engine = open(kModel, setup);
  ASSERT_NE(engine, nullptr);
  const auto tokenizer = engine->tokenizer();
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  double worst = 0;
  size_t equal = 0, tokens = 0;
  for (const Json& c : golden.find("cases")->as_array()) {
    SCOPED_TRACE(c.find("prompt")->as_string());
    const auto prompt = prompt_of(*engine, c);
    ASSERT_TRUE(prompt) << prompt.error().message;
    const auto ids = (*tokenizer)->encode(*prompt, {.add_special = !is_chat(c)});
    ASSERT_TRUE(ids) << ids.error().message;
    EXPECT_EQ(*ids, ids_of(*c.find("ids")));

    auto session = engine->start();
    ASSERT_TRUE(session) << session.error().message;
    const auto logits = session->feed(*ids);
    ASSERT_TRUE(logits) << logits.error().message;
    std::vector<float> top;
    for (const uint32_t id : ids_of(*c.find("top10_ids"))) top.push_back((*logits)[id]);
    const std::vector<float> expected = floats_of(*c.find("top10_logits"));
    const double allowed = setup.tolerance * double(expected.front());
    const double error = relative_error(expected, top);
    worst = std::max(worst, error);
    EXPECT_LE(error, setup.tolerance);
    const auto above = std::ranges::count_if(
        *logits, [&](float logit) { return double(logit) > double(expected.back()) + allowed; });
    EXPECT_LT(above, 10) << "another token belongs to the ten best";

    const size_t wanted = c.find("greedy_ids")->as_array().size();
    const std::vector<uint32_t> greedy =
        continue_greedily(*session, *logits, *engine->defaults()->end_ids, kGreedyTokens);
    const size_t same = expect_greedy(c, greedy, 2 * allowed);
    equal += same;
    tokens += wanted;
    if (same == wanted) {
      EXPECT_EQ((*tokenizer)->decode(greedy, true), c.find("greedy_text")->as_string());
    }
  }
  fmt::print("storyteller {}: ten best within {:.1e} of the largest, greedy tokens {} of {}\n",
             setup.name, worst, equal, tokens);
}

/// The work above the kernels.
struct StorytellerText : Storyteller {};

/// The same through the call that programs make.
TEST_P(StorytellerText, GeneratesTheRecordedTexts) {
  const auto engine = open(kModel, setup);
  ASSERT_NE(engine, nullptr);
  GenerationParams params = *engine->defaults();
  params.sampling.temperature = 0;
  params.max_tokens = kGreedyTokens;
  for (const Json& c : golden.find("cases")->as_array()) {
    if (c.find("ids")->as_array().size() > 32) continue;  // long ones differ only in the prompt
    const auto prompt = prompt_of(*engine, c);
    ASSERT_TRUE(prompt) << prompt.error().message;
    std::string streamed;
    const GenerationCallbacks callbacks{.text = [&](std::string_view text) { streamed += text; }};
    const auto result = is_chat(c) ? engine->generate_rendered(*prompt, params, callbacks)
                                   : engine->generate(*prompt, params, callbacks);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(streamed, result->text);
    EXPECT_EQ(result->prompt_tokens, c.find("ids")->as_array().size());
    const double allowed = 2 * setup.tolerance * c.find("top10_logits")->as_array()[0].as_number();
    if (expect_greedy(c, result->ids, allowed) < c.find("greedy_ids")->as_array().size()) continue;
    EXPECT_EQ(result->text, c.find("greedy_text")->as_string());
    EXPECT_EQ(result->finish == FinishReason::kEndToken, c.find("stopped")->as_bool());
  }
}

/// exp of the mean of -log p(token | tokens before it).
double perplexity(const std::vector<float>& logits, std::span<const uint32_t> ids, size_t vocab) {
  double sum = 0;
  for (size_t i = 0; i + 1 < ids.size(); ++i) {
    const auto entry = logprobs(std::span(logits).subspan(i * vocab, vocab), ids[i + 1], 0);
    EXPECT_TRUE(entry) << entry.error().message;
    if (entry) sum -= double(entry->chosen.logprob);
  }
  return std::exp(sum / double(ids.size() - 1));
}

TEST_P(Storyteller, FindsATextAsSurprisingAsRecorded) {
  const auto engine = open(kModel, setup, true);
  ASSERT_NE(engine, nullptr);
  const Json& eval = *golden.find("eval");
  const auto text = read_text_file(kData + eval.find("file")->as_string(), 1 << 20);
  ASSERT_TRUE(text) << text.error().message;
  const auto tokenizer = engine->tokenizer();
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto ids = (*tokenizer)->encode(*text);
  ASSERT_TRUE(ids) << ids.error().message;
  EXPECT_EQ(int64_t(ids->size()) - 1, eval.find("tokens")->as_integer());
  const size_t vocab = engine->compiled().facts.vocab;
  const std::vector<float> logits = logits_of(*engine, *ids);
  ASSERT_EQ(logits.size(), ids->size() * vocab);
  const double own = perplexity(logits, *ids, vocab);
  const double recorded = eval.find("perplexity")->as_number();
  EXPECT_NEAR(own, recorded, kPerplexity);
  fmt::print("storyteller {}: perplexity {:.4f}, recorded {:.4f}\n", setup.name, own, recorded);
}

/// The processor, a device with everything as it is by default, and the least device.
INSTANTIATE_TEST_SUITE_P(Setups, Storyteller,
                         testing::Values(setup_named("cpu_fast"), setup_named("webgpu_f16"),
                                         setup_named("webgpu_plain")),
                         [](const auto& param) { return param.param.name; });
INSTANTIATE_TEST_SUITE_P(Setups, StorytellerText, testing::Values(setup_named("cpu_fast")),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tokamak::golden
