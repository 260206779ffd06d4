// The rules for embeddings on any device: what ran before, how long it was and in which pieces it
// ran changes nothing; poolings agree with each other; who sees whom.
#include <algorithm>
#include <cmath>

#include "golden/reference.h"

namespace tokamak::golden {
namespace {

constexpr const char* kGemma = TOKAMAK_TEST_DATA "/embeddings/embeddinggemma";
constexpr const char* kQwen = TOKAMAK_TEST_DATA "/embeddings/qwen3_embedding";
constexpr const char* kStoryteller = TOKAMAK_SOURCE_DIR "/models/storyteller";

struct EmbeddingInvariant : testing::TestWithParam<DeviceSetup> {
  const DeviceSetup& setup = GetParam();
  std::vector<uint32_t> ids;

  void SetUp() override {
    require_device(setup);
    for (uint32_t i = 0; i < 60; ++i) ids.push_back((i * 37 + 11) % 500);
  }

  /// Two runs of one setup with other orders of summing.
  double own_tolerance() const {
    if (setup.name == "cpu") return 1e-6;
    return setup.options.kv == "f16" ? setup.tolerance : 2e-5;
  }

  /// The model with another pooling and nothing after it.
  std::unique_ptr<Engine> pooled(const char* folder, const char* mode, uint32_t chunk = 512) {
    auto files = read_model_files(folder);
    EXPECT_TRUE(files) << files.error().message;
    files->description.encoder =
        EncoderFiles{.modules = {{"Transformer", ""}, {"Pooling", "1_Pooling"}},
                     .configs = {{"1_Pooling", Json(Json::Object{{"pooling_mode", mode}})}}};
    OpenOptions options = setup.options;
    options.chunk = chunk;
    auto backend = open_backend(options);
    EXPECT_TRUE(backend) << backend.error().message;
    auto engine = Engine::load(*std::move(files), *std::move(backend), options, steady_clock());
    EXPECT_TRUE(engine) << engine.error().message;
    return *std::move(engine);
  }

  std::vector<float> embed(Engine& engine, std::span<const uint32_t> some) {
    const auto embedding = engine.embed(some);
    EXPECT_TRUE(embedding) << embedding.error().message;
    return embedding.value_or(std::vector<float>());
  }
};

TEST_P(EmbeddingInvariant, WhatRanBeforeLeavesNoTrace) {
  for (const char* model : {kGemma, kQwen}) {
    const auto engine = open(model, setup);
    ASSERT_NE(engine, nullptr);
    std::vector<std::vector<float>> first;
    const size_t lengths[] = {8, 60, 1, 17};
    for (const size_t n : lengths) first.push_back(embed(*engine, std::span(ids).first(n)));
    for (size_t i = 4; i-- > 0;) {
      const auto fresh = open(model, setup);
      ASSERT_NE(fresh, nullptr);
      EXPECT_EQ(embed(*fresh, std::span(ids).first(lengths[i])), first[i]) << lengths[i];
      EXPECT_EQ(embed(*engine, std::span(ids).first(lengths[i])), first[i]) << lengths[i];
    }
  }
}

TEST_P(EmbeddingInvariant, SeveralTextsGiveWhatEachGives) {
  DeviceSetup changed = setup;
  changed.options.pooling = "mean";
  const auto engine = open(kStoryteller, changed);
  ASSERT_NE(engine, nullptr);
  const std::vector<std::string> texts = {"A fox.", "The old king had three sons.", "Rain"};
  const auto all = engine->embed(texts);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    // A step of several texts may have other kernels on a device than one of few tokens.
    const double tolerance = setup.name == "cpu" ? 0 : own_tolerance();
    EXPECT_LE(relative_error(*engine->embed(texts[i]), (*all)[i]), tolerance);
  }
}

/// The first token's own vector: changed by the last token only where attention looks both ways.
TEST_P(EmbeddingInvariant, OnlyTheBidirectionalModelSeesTheFuture) {
  const auto gemma = pooled(kGemma, "cls"), qwen = pooled(kQwen, "cls");
  std::vector<uint32_t> other(ids.begin(), ids.begin() + 12), same = other;
  other.back() += 1;
  EXPECT_GT(relative_error(embed(*gemma, same), embed(*gemma, other)), 1e-3);
  EXPECT_LE(relative_error(embed(*qwen, same), embed(*qwen, other)), own_tolerance());
}

TEST_P(EmbeddingInvariant, TheFirstOfManyIsTheLastOfOneInACausalModel) {
  const auto first = pooled(kQwen, "cls"), last = pooled(kQwen, "lasttoken");
  EXPECT_LE(relative_error(embed(*last, std::span(ids).first(1)), embed(*first, ids)),
            own_tolerance());
}

TEST_P(EmbeddingInvariant, TheMeanIsThatOfTheLastTokensOfAllBeginnings) {
  const auto mean = pooled(kQwen, "mean"), last = pooled(kQwen, "lasttoken");
  const auto some = std::span(ids).first(20);
  std::vector<float> expected;
  for (size_t n = 1; n <= some.size(); ++n) {
    const std::vector<float> one = embed(*last, some.first(n));
    expected.resize(one.size());
    for (size_t i = 0; i < one.size(); ++i) expected[i] += one[i] / float(some.size());
  }
  EXPECT_LE(relative_error(expected, embed(*mean, some)), own_tolerance());
}

TEST_P(EmbeddingInvariant, ChunksOfAnySizeEqualOne) {
  const std::vector<float> expected = embed(*pooled(kQwen, "lasttoken"), ids);
  for (const uint32_t chunk : {1u, 7u, 59u}) {
    EXPECT_LE(relative_error(expected, embed(*pooled(kQwen, "lasttoken", chunk), ids)),
              own_tolerance())
        << chunk;
  }
}

TEST_P(EmbeddingInvariant, ATextThatIsTooLongIsCutOnlyOnRequest) {
  DeviceSetup changed = setup;
  changed.options.pooling = "last";
  changed.options.context = 8;
  const auto engine = open(kStoryteller, changed);
  ASSERT_NE(engine, nullptr);
  const std::string text =
      "Once upon a time there was a king who had a golden bird and three sons.";
  const auto refused = engine->embed(text);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the context has 8 positions"), std::string::npos)
      << refused.error().message;
  auto cut = *(*engine->tokenizer())->encode(text);
  cut.resize(8);
  EXPECT_EQ(engine->embed(text, {.truncate = true}).value(), embed(*engine, cut));
}

/// The reference, and the two ends of what devices have.
std::vector<DeviceSetup> chosen() {
  std::vector<DeviceSetup> some;
  for (const DeviceSetup& setup : setups()) {
    if (setup.name == "cpu" || setup.name == "webgpu_f32" || setup.name == "webgpu_plain") {
      some.push_back(setup);
    }
  }
  return some;
}

INSTANTIATE_TEST_SUITE_P(Setups, EmbeddingInvariant, testing::ValuesIn(chosen()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tokamak::golden
