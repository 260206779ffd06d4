// Models that read images against what transformers makes of the same files: the rows that the
// tower gives for each image, the logits after prompts with images, and the tokens that follow.
#include <algorithm>
#include <optional>

#include "engine/image_encoder.h"
#include "golden/vision_prompts.h"

namespace tokamak::golden {
namespace {

/// The rows that are recorded for an image of the tower's.
std::vector<float> recorded_rows(const VisionModel& model, const Json& entry) {
  if (const Json* rows = entry.find("rows")) return floats_of(*rows);
  const auto arrays = open_safetensors_file(model.folder() + "/golden.safetensors");
  EXPECT_TRUE(arrays);
  if (!arrays) return {};
  const TensorInfo* recorded = arrays->find(
      entry.find(entry.find("merged") != nullptr ? "merged" : "projected")->as_string());
  EXPECT_NE(recorded, nullptr);
  if (recorded == nullptr) return {};
  const auto bytes = arrays->data(*recorded);
  EXPECT_TRUE(bytes);
  if (!bytes) return {};
  std::vector<float> rows(bytes->size() / sizeof(float));
  std::memcpy(rows.data(), bytes->data(), bytes->size());
  return rows;
}

struct VisionGolden : testing::TestWithParam<std::tuple<const char*, DeviceSetup>> {
  DeviceSetup setup = std::get<1>(GetParam());
  std::optional<VisionModel> model;
  std::unique_ptr<Engine> engine;

  const Json& golden() const { return model->golden(); }
  void SetUp() override {
    require_device(setup);
    if (IsSkipped()) return;
    model.emplace(std::get<0>(GetParam()));
    ASSERT_NE(golden().find("chats"), nullptr);
    setup.options.image_pixels = kImagePixels;
    engine = open(model->folder(), setup);
    ASSERT_NE(engine, nullptr);
  }
};

TEST_P(VisionGolden, TowersGiveTheRecordedRows) {
  const auto backend = open_backend(setup.options);
  ASSERT_TRUE(backend);
  const auto no_words = [](std::string_view) { return std::vector<uint32_t>(); };
  const auto encoder =
      ImageEncoder::make(engine->compiled(), engine->files(), setup.options, *backend, no_words);
  ASSERT_TRUE(encoder) << encoder.error().message;
  for (const Json& entry : golden().find("tower")->as_array()) {
    const std::string& file = entry.find("file")->as_string();
    SCOPED_TRACE(file);
    auto fitted = (*encoder)->fit(image_of(file));
    ASSERT_TRUE(fitted) << fitted.error().message;
    const auto added = (*encoder)->add(*std::move(fitted), "");
    ASSERT_TRUE(added) << added.error().message;
    const auto encoded = (*added)->encode();
    ASSERT_TRUE(encoded) << encoded.error().message;
    const double error = relative_error(recorded_rows(*model, entry), *encoded);
    // Matrix units take keys and values as f16.
    const bool has_matrix = ((*backend)->device().features & kFeatureSubgroupMatrix) != 0;
    EXPECT_LE(error, has_matrix ? setup.tolerance : std::min(setup.tolerance, 1e-4));
    fmt::print("tower {} {} {}: within {:.1e}\n", std::get<0>(GetParam()), setup.name, file, error);
  }
}

TEST_P(VisionGolden, PromptsWithImagesHaveTheRecordedLogitsAndTokens) {
  for (const Json& chat : golden().find("chats")->as_array()) {
    SCOPED_TRACE(chat.find("name")->as_string());
    const ImagePrompt prompt = prompt_of(*engine, chat);
    const std::vector<uint32_t>& ids = prompt.ids;
    ASSERT_FALSE(ids.empty());
    auto session = engine->start();
    ASSERT_TRUE(session) << session.error().message;
    auto logits = session->feed(ids);
    ASSERT_TRUE(logits) << logits.error().message;
    const double error = relative_error(floats_of(*chat.find("logits_last")), *logits);
    EXPECT_LE(error, setup.tolerance);
    if (const Json* delta = chat.find("rope_delta")) {
      EXPECT_EQ(int32_t(session->rotary_shift()), delta->as_integer());
    }
    // The runs have as many as the device chooses by itself, and one by one.
    const std::vector<uint32_t> expected = ids_of(*chat.find("greedy")->find("ids"));
    for (const bool logprobs : {false, true}) {
      Request request{.prompt = prompt.ids, .images = prompt.images};
      request.params.sampling.temperature = 0;
      request.params.max_tokens = uint32_t(expected.size());
      request.params.end_ids.emplace();
      request.params.logprobs = logprobs;
      const auto chosen = engine->generate(std::move(request));
      ASSERT_TRUE(chosen) << chosen.error().message;
      EXPECT_EQ(chosen->ids, expected);
    }
    fmt::print("chat {} {}, {} tokens: within {:.1e}\n", std::get<0>(GetParam()), setup.name,
               ids.size(), error);
  }
}

/// The tower of Qwen3.5 beside a text with experts.
TEST(VisionOfMixtures, GivesTheRecordedRows) {
  const VisionModel seen("qwen3_5_vl_images");
  const Json family = read_json(family_file("qwen3_5_moe"));
  const std::string folder = made_checkpoint("qwen3_5_moe", family);
  auto files = read_model_files(folder);
  std::filesystem::remove_all(folder);
  const auto dense = read_model_files(seen.folder());
  ASSERT_TRUE(files && dense);
  std::vector<TensorInfo> tower;
  for (const TensorInfo& one : dense->tensors.tensors()) {
    if (one.name.starts_with("model.visual.")) tower.push_back(one);
  }
  const auto sources = dense->tensors.sources();
  const auto own = TensorFile::make({sources.begin(), sources.end()}, tower, {});
  ASSERT_TRUE(own) << own.error().message;
  files->tensors = *with_tensors(files->tensors, "", *own);
  Json config;
  config.set("architectures", Json::Array{"Qwen3_5MoeForConditionalGeneration"})
      .set("model_type", "qwen3_5_moe")
      .set("image_token_id", 90)
      .set("text_config", *family.find("config"))
      .set("vision_config", *dense->description.config.find("vision_config"));
  files->description.config = std::move(config);
  files->description.image_processor = dense->description.image_processor;
  DeviceSetup setup = setup_named("cpu");
  setup.options.image_pixels = kImagePixels;
  const auto engine =
      Engine::load(*std::move(files), *open_backend(setup.options), setup.options, steady_clock());
  ASSERT_TRUE(engine) << engine.error().message;
  const auto backend = open_backend(setup.options);
  const auto encoder =
      ImageEncoder::make((*engine)->compiled(), (*engine)->files(), setup.options, *backend,
                         [](std::string_view) { return std::vector<uint32_t>(); });
  ASSERT_TRUE(encoder) << encoder.error().message;
  const Json& entry = seen.golden().find("tower")->as_array().front();
  const Image image = image_of(entry.find("file")->as_string());
  const auto added = (*encoder)->add(*(*encoder)->fit(image), "");
  const auto rows = (*added)->encode();
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_LE(relative_error(recorded_rows(seen, entry), *rows), setup.tolerance);
  // Its text takes them in place of tokens.
  const ImagePrompt prompt = placed(**engine, std::vector<uint32_t>{5, 90, 7}, {&image, 1});
  auto session = (*engine)->start();
  const auto logits = session->feed(prompt.ids);
  ASSERT_TRUE(logits) << logits.error().message;
  EXPECT_GT(relative_error(logits_of(**engine, std::vector<uint32_t>{5, 7}), *logits), 0.01);
}

std::string case_name(const testing::TestParamInfo<VisionGolden::ParamType>& info) {
  return fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param).name);
}

INSTANTIATE_TEST_SUITE_P(
    Models, VisionGolden,
    testing::Combine(testing::Values("gemma3_vl", "gemma4_vl", "gemma4_vl_clipped",
                                     "gemma4_vl_standardized", "qwen3_5_vl_images", "qwen3_vl"),
                     testing::ValuesIn(setups())),
    case_name);
/// Their towers are those of others, but for what parity covers.
INSTANTIATE_TEST_SUITE_P(OnTheCpu, VisionGolden,
                         testing::Combine(testing::Values("qwen2_vl", "qwen3_vl_moe"),
                                          testing::Values(setups().front())),
                         case_name);
/// Whose kernels are those of the others.
INSTANTIATE_TEST_SUITE_P(
    OnTwoDevices, VisionGolden,
    testing::Combine(testing::Values("idefics3", "llava", "mistral3_images", "qwen2_5_vl"),
                     testing::Values(setup_named("cpu"), setup_named("webgpu_f32"))),
    case_name);

}  // namespace
}  // namespace tokamak::golden
