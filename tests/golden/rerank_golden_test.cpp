// The small rankers of tests/data/rerank against scores recorded from transformers, on the CPU and
// on WebGPU. Prints the largest error of each.
#include <cmath>

#include "engine/yes_probability.h"
#include "golden/reference.h"

namespace tokamak::golden {
namespace {

struct RerankGolden : testing::TestWithParam<std::tuple<std::string, DeviceSetup>> {
  const std::string model = std::get<0>(GetParam());
  const DeviceSetup& setup = std::get<1>(GetParam());
  const std::string folder = TOKAMAK_TEST_DATA "/rerank/" + model;
};

struct Pair {
  std::vector<uint32_t> ids, types;
  double score = 0;
};

std::vector<Pair> pairs_of(const Json& golden) {
  std::vector<Pair> pairs;
  for (const Json& c : golden.find("cases")->as_array()) {
    Pair pair{.ids = ids_of(*c.find("ids")), .types = {}, .score = c.find("score")->as_number()};
    if (const Json* types = c.find("token_type_ids")) pair.types = ids_of(*types);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

/// By a cross-encoder all at once, by another model one after the other.
Result<std::vector<float>> scores_of(Engine& engine, const Json& golden,
                                     const std::vector<Pair>& pairs) {
  if (engine.compiled().facts.score) {
    std::vector<EncoderInput> inputs;
    for (const Pair& pair : pairs) inputs.push_back({.ids = pair.ids, .types = pair.types});
    return engine.scores(inputs);
  }
  std::vector<float> scores;
  for (const Pair& pair : pairs) {
    TOK_TRY(Session session, engine.start());
    TOK_TRY(const auto logits, session.feed(pair.ids));
    scores.push_back(yes_probability(logits[size_t(golden.find("yes_id")->as_integer())],
                                     logits[size_t(golden.find("no_id")->as_integer())]));
  }
  return scores;
}

TEST_P(RerankGolden, ScoresAreAsRecorded) {
  require_device(setup);
  if (IsSkipped()) return;
  const Json golden = read_json(folder + "/golden.json");
  const auto engine = open(folder, setup);
  ASSERT_NE(engine, nullptr);
  const std::vector<Pair> pairs = pairs_of(golden);
  ASSERT_FALSE(pairs.empty());
  const auto scores = scores_of(*engine, golden, pairs);
  ASSERT_TRUE(scores) << scores.error().message;
  ASSERT_EQ(scores->size(), pairs.size());
  double error = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    error = std::max(error, std::abs((*scores)[i] - pairs[i].score));
  }
  EXPECT_LE(error, setup.tolerance);
  fmt::print("rerank {} {}: within {:.1e}\n", model, setup.name, error);
}

INSTANTIATE_TEST_SUITE_P(
    Models, RerankGolden,
    testing::ValuesIn(
        in_turn(std::vector<std::string>{"cross_bert", "cross_modernbert", "cross_xlmr",
                                         "qwen3_reranker", "cross_gte", "cross_jina"},
                {{"cpu", "cpu_fast", "webgpu_f16"}, {"cpu", "cpu_fast", "webgpu_f32"}})),
    [](const auto& param) {
      return std::get<0>(param.param) + "_" + std::get<1>(param.param).name;
    });

}  // namespace
}  // namespace tokamak::golden
