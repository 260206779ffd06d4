// The benchmarks of models that see, recognize speech, embed and rank, and of codecs: the smallest
// of each kind, on the CPU. Models that speak need a tokenizer: tests/cli/speak_test.py.
#include "report/bench/bench_work.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {
namespace {

const std::string kData = TOKAMAK_TEST_DATA "/";

BenchOptions few() {
  BenchOptions options{.repetitions = 2};
  options.texts = 3;
  options.text_tokens = 6;
  options.heard_tokens = 5;
  options.seconds = 1;
  return options;
}

Result<BenchReport> measure(const std::string& model, const BenchOptions& options) {
  return bench({.model = kData + model, .backend = "cpu"}, options);
}

void expect_measured(const BenchReport& report, const char* name, const char* unit, double amount,
                     uint64_t tokens, const char* first) {
  ASSERT_EQ(report.work.size(), 1u);
  const WorkTest& test = report.work[0];
  EXPECT_EQ(test.name, name);
  EXPECT_EQ(test.unit, unit);
  EXPECT_DOUBLE_EQ(test.amount, amount);
  EXPECT_EQ(test.tokens, tokens);
  EXPECT_EQ(test.first_name, first);
  ASSERT_EQ(test.seconds.size(), 2u);
  ASSERT_EQ(test.first_seconds.size(), *first == 0 ? 0u : 2u);
  for (size_t i = 0; i < test.first_seconds.size(); ++i) {
    EXPECT_GT(test.first_seconds[i], 0);
    EXPECT_LE(test.first_seconds[i], test.seconds[i]);
  }
  EXPECT_TRUE(report.correct()) << check_text(report);
}

TEST(BenchWork, EmbedsTexts) {
  const auto report = measure("embeddings/minilm", few());
  ASSERT_TRUE(report) << report.error().message;
  expect_measured(*report, "3 texts of 6 tokens", "texts/s", 3, 18, "");
}

TEST(BenchWork, RanksPairs) {
  const auto report = measure("rerank/cross_bert", few());
  ASSERT_TRUE(report) << report.error().message;
  expect_measured(*report, "3 pairs of 6 tokens", "pairs/s", 3, 18, "");
}

TEST(BenchWork, ReadsSoundInWindows) {
  // Whisper's window of the recorded model has 4 seconds.
  BenchOptions options = few();
  options.seconds = 6;
  for (const char* model : {"speech/whisper", "speech/moonshine"}) {
    const auto report = measure(model, options);
    ASSERT_TRUE(report) << report.error().message;
    expect_measured(*report, "6 s of sound, 5 tokens", "x real time", 6, 5, "token");
  }
}

TEST(BenchWork, SeesAnImage) {
  BenchOptions options = few();
  options.image_side = 64;
  const auto report = measure("vision/qwen3_5_vl_images", options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->work.size(), 1u);
  // The image is enlarged to as many tokens as the model wants at least.
  expect_measured(*report, "image of 64 x 64 to a token", "images/s", 1, report->work[0].tokens,
                  "rows");
  EXPECT_GT(report->work[0].tokens, 20u);
}

TEST(BenchWork, DecodesCodesInPieces) {
  BenchOptions options = few();
  const auto report = measure("speech/nanocodec", options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_GE(report->work.size(), 2u);
  EXPECT_TRUE(report->work[0].name.ends_with("in pieces of 5 frames")) << report->work[0].name;
  EXPECT_EQ(report->work[0].unit, "x real time");
  EXPECT_NEAR(report->work[0].amount, 1, 0.1);
  EXPECT_LT(report->work[0].first_seconds[0], report->work[0].seconds[0]);
  EXPECT_TRUE(report->correct()) << check_text(*report);
  EXPECT_GT(report->memory.constants, 0u);
}

TEST(BenchWork, IsWrongWhereResultsDiffer) {
  const WorkResults same = {{1, 2}, {100, 200}}, other = {{1, 2.1f}, {100, 200}};
  EXPECT_EQ(relative_error(same, same), 0);
  EXPECT_NEAR(relative_error(other, same), 0.05, 1e-6) << "each has a scale of its own";
  EXPECT_TRUE(are_finite(same));
  EXPECT_FALSE(are_finite({{1, 2}, {NAN}}));
}

TEST(BenchWork, ShowsNoImageToAModelThatSeesNone) {
  BenchOptions options = few();
  options.image_side = 64;
  const auto report = measure("embeddings/minilm", options);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("reads text only"), std::string::npos)
      << report.error().message;
}

TEST(BenchWork, TextsMustFit) {
  BenchOptions options = few();
  options.text_tokens = 1000;
  const auto report = measure("embeddings/minilm", options);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("1000"), std::string::npos) << report.error().message;
}

}  // namespace
}  // namespace tokamak
