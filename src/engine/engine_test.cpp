#include "engine/engine.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "engine/draft.h"

namespace tokamak {
namespace {

constexpr const char* kModel = TOKAMAK_SOURCE_DIR "/models/storyteller";

Result<std::unique_ptr<Engine>> load(const std::string& generation_config,
                                     const OpenOptions& options = {}) {
  TOK_TRY(ModelFiles files, read_model_files(kModel));
  files.description.generation_config.reset();
  if (!generation_config.empty()) {
    TOK_TRY(files.description.generation_config, Json::parse(generation_config));
  }
  return Engine::load(std::move(files), make_cpu_backend(), options, steady_clock());
}

TEST(Engine, SamplesAsTheModelRecommends) {
  const auto all = load(R"({"do_sample": true, "temperature": 0.3, "top_k": 0, "min_p": 0.15,
                            "typical_p": 0.9, "repetition_penalty": 1.05})");
  ASSERT_TRUE(all) << all.error().message;
  const SamplingParams params = (*all)->defaults()->sampling;
  EXPECT_EQ(params.temperature, 0.3);
  EXPECT_EQ(params.top_k, 0u);
  EXPECT_EQ(params.top_p, 1);
  EXPECT_EQ(params.min_p, 0.15);
  EXPECT_EQ(params.typical_p, 0.9);
  EXPECT_EQ(params.repetition_penalty, 1.05);
}

TEST(Engine, WhatIsWrongWithSamplingIsSaidToThoseWhoSample) {
  const auto wrong = load(R"({"do_sample": true, "min_p": 2})");
  ASSERT_TRUE(wrong) << wrong.error().message;
  const auto defaults = (*wrong)->defaults();
  ASSERT_FALSE(defaults);
  EXPECT_EQ(defaults.error().message,
            "generation_config.json: min_p is 2, expected a number from 0 to 1.");
  const auto unused = load(R"({"do_sample": false, "temperature": 0, "top_k": -1, "top_p": null})");
  ASSERT_TRUE(unused) << unused.error().message;
  EXPECT_TRUE((*unused)->defaults());
  const auto penalty = load(R"({"repetition_penalty": NaN})");
  ASSERT_TRUE(penalty) << penalty.error().message;
  EXPECT_EQ((*penalty)->defaults().error().message,
            "generation_config.json: repetition_penalty is NaN, expected a number above 0.");
}

TEST(Engine, EndsWhereTheModelSaysUnlessToldOtherwise) {
  // The most probable text goes on with the tokens 271, 592, 1884: ", there lived".
  const auto engine = load(R"({"eos_token_id": [1, 592]})");
  ASSERT_TRUE(engine) << engine.error().message;
  const SamplingParams greedy = {.temperature = 0};
  const auto own = (*engine)->generate("Once upon a time", {.sampling = greedy, .max_tokens = 3});
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->finish, FinishReason::kEndToken);
  EXPECT_EQ(own->ids, (std::vector<uint32_t>{271, 592}));
  const GenerationParams none = {
      .sampling = greedy, .max_tokens = 3, .end_ids = std::vector<uint32_t>()};
  const auto further = (*engine)->generate("Once upon a time", none);
  ASSERT_TRUE(further) << further.error().message;
  EXPECT_EQ(further->ids, (std::vector<uint32_t>{271, 592, 1884}));
}

TEST(Engine, TakesANewSeedForEveryCallAndSaysWhich) {
  const auto engine = load("");
  ASSERT_TRUE(engine) << engine.error().message;
  GenerationParams params = {.max_tokens = 4};
  const auto first = (*engine)->generate("Once", params);
  const auto second = (*engine)->generate("Once", params);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->seed, second->seed);
  params.sampling.seed = first->seed;
  const auto again = (*engine)->generate("Once", params);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->ids, first->ids);
  EXPECT_EQ(again->seed, first->seed);
}

TEST(Engine, ACallbackCannotStartAnotherCall) {
  const auto engine = load("");
  ASSERT_TRUE(engine) << engine.error().message;
  const GenerationParams params = {.sampling = {.temperature = 0}, .max_tokens = 4};
  const auto alone = (*engine)->generate("Once upon a time", params);
  ASSERT_TRUE(alone);
  std::set<std::string> messages;
  GenerationCallbacks callbacks;
  const auto call = [&] {
    const auto inner = (*engine)->generate("The king was old", params);
    ASSERT_FALSE(inner);
    EXPECT_EQ(inner.error().code, ErrorCode::kUsage);
    messages.insert(inner.error().message);
    EXPECT_FALSE((*engine)->start());
  };
  callbacks.text = [&](std::string_view) { call(); };
  callbacks.token = [&](uint32_t, const Logprobs*) { call(); };
  callbacks.cancelled = [&] {
    call();
    return false;
  };
  const auto outer = (*engine)->generate("Once upon a time", params, callbacks);
  ASSERT_TRUE(outer) << outer.error().message;
  EXPECT_EQ(outer->ids, alone->ids);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(*messages.begin(),
            "The model is in the middle of a call: a callback must not start another one. Do it "
            "when the call has returned, or open the model once more.");
  EXPECT_TRUE((*engine)->generate("Once", params)) << "afterwards it can";
}

TEST(Engine, AnOlderSessionIsAnErrorInsteadOfAnotherText) {
  const auto engine = load("");
  ASSERT_TRUE(engine) << engine.error().message;
  const uint32_t ids[] = {5, 6, 7};
  auto old = (*engine)->start();
  ASSERT_TRUE(old && old->feed(ids));
  ASSERT_TRUE((*engine)->generate("Once", {.max_tokens = 1}));
  const auto used = old->feed(ids);
  ASSERT_FALSE(used);
  EXPECT_EQ(used.error().code, ErrorCode::kUsage);
}

TEST(Engine, APromptThatDoesNotFitIsAnErrorAlsoWhereNoTokenIsWanted) {
  const auto engine = load("", {.context = 4});
  ASSERT_TRUE(engine) << engine.error().message;
  GenerationParams params;
  params.max_tokens = 0;
  const auto long_one = (*engine)->generate("Once upon a time there was a king", params);
  ASSERT_FALSE(long_one);
  EXPECT_EQ(long_one.error().code, ErrorCode::kInvalidInput);
  const auto short_one = (*engine)->generate("Once", params);
  ASSERT_TRUE(short_one) << short_one.error().message;
  EXPECT_GT(short_one->prefill_seconds, 0);
}

TEST(Engine, TheReferenceCountsTheBytesThatAreAlive) {
  const auto backend = make_cpu_backend();
  const auto engine = load("");
  ASSERT_TRUE(engine) << engine.error().message;
  const auto none = [](const TensorDesc&, Share, const WriteBytes&) { return Result<void>(); };
  const Plan& plan = (*engine)->compiled().main.plan;
  auto program = backend->compile(plan, none);
  ASSERT_TRUE(program);
  EXPECT_EQ(backend->device_bytes(), footprint(plan).total());
  program->reset();
  EXPECT_EQ(backend->device_bytes(), 0u);
}

/// The reason why the built-in model refuses its own copy as a draft model, which `change` has
/// changed;
/// "": it takes them.
std::string refuses_draft(const std::function<void(ModelFiles&)>& change) {
  auto files = read_model_files(kModel), draft = read_model_files(kModel);
  draft->name = "copy";
  change(*draft);
  files->draft = std::make_shared<ModelFiles>(*std::move(draft));
  const OpenOptions options = {.context = 32, .chunk = 16, .speculate = "draft"};
  const auto engine = Engine::load(*std::move(files), make_cpu_backend(), options, steady_clock());
  return engine ? "" : engine.error().message;
}

TEST(Engine, TakesDraftsOfAModelWithTheSameVocabularyOnly) {
  EXPECT_EQ(refuses_draft([](ModelFiles&) {}), "");
  const auto swap_tokens = [](ModelFiles& draft) {
    constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
        {R"("J": 300)", R"("J": 301)"}, {R"("K": 301)", R"("K": 300)"}};
    for (const auto& [from, to] : kChanges) {
      const size_t at = draft.tokenizer.find(from);
      ASSERT_NE(at, std::string::npos);
      draft.tokenizer.replace(at, from.size(), to);
    }
  };
  EXPECT_EQ(
      refuses_draft(swap_tokens),
      fmt::format("The draft model copy has another vocabulary than {}: its token 300 is "
                  "\"K\", not \"J\". Expected a model with the same tokenizer, as the smaller "
                  "ones of a family have it.",
                  kModel));
  EXPECT_EQ(
      refuses_draft([](ModelFiles& draft) { draft.tokenizer.clear(); }),
      fmt::format("copy has no tokenizer, so that its vocabulary cannot be compared with that "
                  "of {}; expected two models with the same.",
                  kModel));
}

TEST(Engine, NeedsNoTokenizerToCompareVocabulariesOfTheSameSize) {
  const auto files = read_model_files(kModel);
  ModelFiles bare = *files;
  bare.tokenizer.clear();
  bare.draft = std::make_shared<ModelFiles>(bare);
  EXPECT_TRUE(check_vocabulary(bare, nullptr));
}

}  // namespace
}  // namespace tokamak
