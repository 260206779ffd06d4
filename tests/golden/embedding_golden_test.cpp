// The small encoders of tests/data/embeddings against vectors recorded from transformers, on the
// CPU and in every setup of WebGPU. Prints the largest error of each case.
#include <algorithm>
#include <cmath>

#include "golden/reference.h"

namespace tokamak::golden {
namespace {

struct EmbeddingGolden : testing::TestWithParam<std::tuple<std::string, DeviceSetup>> {
  const std::string model = std::get<0>(GetParam());
  const DeviceSetup& setup = std::get<1>(GetParam());
  const std::string folder = TOKAMAK_TEST_DATA "/embeddings/" + model;
  Json golden;
  std::unique_ptr<Engine> engine;

  void SetUp() override {
    require_device(setup);
    if (IsSkipped()) return;
    golden = read_json(folder + "/golden.json");
    ASSERT_NE(golden.find("cases"), nullptr);
    ASSERT_FALSE(golden.find("cases")->as_array().empty());
    engine = open(folder, setup);
    ASSERT_NE(engine, nullptr);
  }
};

TEST_P(EmbeddingGolden, VectorsAreAsRecorded) {
  for (const Json& c : golden.find("cases")->as_array()) {
    const std::vector<uint32_t> ids = ids_of(*c.find("ids"));
    SCOPED_TRACE(fmt::format("{} tokens", ids.size()));
    const auto whole = engine->embed(ids, {.normalize = false});
    ASSERT_TRUE(whole) << whole.error().message;
    const double error = relative_error(floats_of(*c.find("before_normalize")), *whole);
    EXPECT_LE(error, setup.tolerance);
    const auto embedding = engine->embed(ids);
    ASSERT_TRUE(embedding) << embedding.error().message;
    const double unit_error = relative_error(floats_of(*c.find("embedding")), *embedding);
    EXPECT_LE(unit_error, setup.tolerance);
    fmt::print("embedding {} {}, {} tokens: within {:.1e}, of length one {:.1e}\n", model,
               setup.name, ids.size(), error, unit_error);
  }
}

/// The recorded vector, cut and brought to length one by hand.
TEST_P(EmbeddingGolden, ShorterVectorsAreTheBeginningOfTheWhole) {
  const Json& c = golden.find("cases")->as_array()[1];
  std::vector<float> expected = floats_of(*c.find("before_normalize"));
  expected.resize(24);
  double squares = 0;
  for (const float value : expected) squares += double(value) * value;
  for (float& value : expected) value = float(value / std::sqrt(squares));
  const auto embedding = engine->embed(ids_of(*c.find("ids")), {.dimensions = 24});
  ASSERT_TRUE(embedding) << embedding.error().message;
  EXPECT_LE(relative_error(expected, *embedding), setup.tolerance);
}

INSTANTIATE_TEST_SUITE_P(Models, EmbeddingGolden,
                         testing::Combine(testing::Values(std::string("embeddinggemma"),
                                                          std::string("qwen3_embedding")),
                                          testing::ValuesIn(setups())),
                         [](const auto& param) {
                           return std::get<0>(param.param) + "_" + std::get<1>(param.param).name;
                         });

/// Models whose texts do not follow from what is in front of them.
struct EncoderGolden : EmbeddingGolden {};

/// Each alone, then more than a step takes, short ones and long ones next to each other.
TEST_P(EncoderGolden, TextsAloneAndTogetherAreAsRecorded) {
  std::vector<std::vector<uint32_t>> texts;
  std::vector<std::vector<float>> expected;
  double error = 0;
  for (size_t i = 0; i < 4; ++i) {
    for (const Json& c : golden.find("cases")->as_array()) {
      texts.push_back(ids_of(*c.find("ids")));
      expected.push_back(floats_of(*c.find("embedding")));
      if (i > 0) continue;
      const auto alone = engine->embed(texts.back());
      ASSERT_TRUE(alone) << alone.error().message;
      error = std::max(error, relative_error(expected.back(), *alone));
    }
  }
  const auto together = engine->embed(texts);
  ASSERT_TRUE(together) << together.error().message;
  ASSERT_EQ(together->size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    error = std::max(error, relative_error(expected[i], (*together)[i]));
  }
  EXPECT_LE(error, setup.tolerance);
  fmt::print("embedding {} {}: within {:.1e}\n", model, setup.name, error);
}

INSTANTIATE_TEST_SUITE_P(
    Models, EncoderGolden,
    testing::ValuesIn(
        in_turn(std::vector<std::string>{"bert", "minilm", "modernbert", "mpnet", "nomic_bert",
                                         "xlmr", "distilbert", "gte", "nomic_moe", "jina_bert",
                                         "jina_code", "bge_m3"},
                {{"cpu", "cpu_fast", "webgpu_f16"}, {"cpu", "cpu_fast", "webgpu_f32"}})),
    [](const auto& param) {
      return std::get<0>(param.param) + "_" + std::get<1>(param.param).name;
    });

/// Models that give each token a weight beside the vector of the text.
struct SparseGolden : EmbeddingGolden {};

TEST_P(SparseGolden, WeightsOfTokensAreAsRecordedBesideVectors) {
  std::vector<std::vector<uint32_t>> texts;
  std::vector<const Json*> cases;
  for (const Json& c : golden.find("cases")->as_array()) {
    texts.push_back(ids_of(*c.find("ids")));
    cases.push_back(&c);
  }
  // Several in a step; the vectors after them are not of its rows.
  const auto found = engine->embed_sparse(texts);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), texts.size());
  double worst = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& expected = cases[i]->find("sparse")->as_array();
    ASSERT_EQ((*found)[i].size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      const TokenWeight& own = (*found)[i][k];
      EXPECT_EQ(own.id, expected[k].as_array()[0].as_integer());
      worst = std::max(worst, std::abs(own.weight - expected[k].as_array()[1].as_number()));
    }
    const auto vector = engine->embed(texts[i]);
    ASSERT_TRUE(vector) << vector.error().message;
    EXPECT_LE(relative_error(floats_of(*cases[i]->find("embedding")), *vector), setup.tolerance);
  }
  EXPECT_LE(worst, setup.tolerance);
  fmt::print("sparse {} {}: within {:.1e}\n", model, setup.name, worst);
}

INSTANTIATE_TEST_SUITE_P(Models, SparseGolden,
                         testing::Combine(testing::Values(std::string("bge_m3")),
                                          testing::ValuesIn(setups())),
                         [](const auto& param) { return std::get<1>(param.param).name; });

}  // namespace
}  // namespace tokamak::golden
