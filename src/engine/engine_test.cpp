#include "engine/engine.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

constexpr const char* kModel = TOKAMAK_SOURCE_DIR "/models/storyteller";

Result<std::unique_ptr<Engine>> load(const std::string& generation_config,
                                     const OpenOptions& options = {}) {
  TOK_TRY(ModelFiles files, read_model_files(kModel));
  files.generation_config = generation_config;
  return Engine::load(std::move(files), make_cpu_backend(), options, steady_clock());
}

TEST(Engine, SamplesAsTheModelRecommends) {
  const auto all = load(R"({"do_sample": true, "temperature": 0.3, "top_k": 0, "min_p": 0.15,
                            "typical_p": 0.9, "repetition_penalty": 1.05})");
  ASSERT_TRUE(all) << all.error().message;
  const SamplingParams& params = (*all)->defaults().sampling;
  EXPECT_EQ(params.temperature, 0.3);
  EXPECT_EQ(params.top_k, 0u);
  EXPECT_EQ(params.top_p, 1);
  EXPECT_EQ(params.min_p, 0.15);
  EXPECT_EQ(params.typical_p, 0.9);
  EXPECT_EQ(params.repetition_penalty, 1.05);
  const auto wrong = load(R"({"do_sample": true, "min_p": 2})");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "generation_config.json: min_p is 2, expected a number from 0 to 1.");
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
  const Plan& plan = (*engine)->compiled().plan;
  auto program = backend->compile(plan, none);
  ASSERT_TRUE(program);
  EXPECT_EQ(backend->device_bytes(), footprint(plan).total());
  program->reset();
  EXPECT_EQ(backend->device_bytes(), 0u);
}

}  // namespace
}  // namespace tokamak
