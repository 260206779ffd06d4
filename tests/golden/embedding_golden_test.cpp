// The small encoders of tests/data/embeddings against vectors recorded from transformers, on the
// CPU and in every setup of WebGPU. Prints the largest error of each case.
#include <algorithm>
#include <cmath>

#include "golden/reference.h"

namespace tokamak::golden {
namespace {

struct EmbeddingGolden : testing::TestWithParam<std::tuple<const char*, DeviceSetup>> {
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
                         testing::Combine(testing::Values("embeddinggemma", "qwen3_embedding"),
                                          testing::ValuesIn(setups())),
                         [](const auto& param) {
                           return std::string(std::get<0>(param.param)) + "_" +
                                  std::get<1>(param.param).name;
                         });

}  // namespace
}  // namespace tokamak::golden
