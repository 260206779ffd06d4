// Models that read images against what transformers makes of the same files: the rows that the
// tower gives for each image, the logits after prompts with images, and the tokens that follow.
#include <algorithm>

#include "engine/images.h"
#include "golden/reference.h"
#include "image/decode.h"

namespace tokamak::golden {
namespace {

struct VisionGolden : testing::TestWithParam<std::tuple<const char*, DeviceSetup>> {
  const std::string folder = std::string(TOKAMAK_TEST_DATA "/vision/") + std::get<0>(GetParam());
  DeviceSetup setup = std::get<1>(GetParam());
  Json golden;
  std::unique_ptr<Engine> engine;

  void SetUp() override {
    require_device(setup);
    if (IsSkipped()) return;
    golden = read_json(folder + "/golden.json");
    ASSERT_NE(golden.find("chats"), nullptr);
    setup.options.image_pixels = 1 << 16;
    engine = open(folder, setup);
    ASSERT_NE(engine, nullptr);
  }

  static Image image_of(const std::string& file) {
    const auto source = open_file(TOKAMAK_TEST_DATA "/images/" + file);
    EXPECT_TRUE(source);
    const auto bytes = (*source)->view(0, (*source)->size());
    EXPECT_TRUE(bytes);
    auto image = decode_image({bytes->data(), bytes->size()});
    EXPECT_TRUE(image) << image.error().message;
    return image ? *std::move(image) : Image();
  }

  /// A chat's prompt, in which the images stand as the engine names them.
  std::vector<uint32_t> prompt_of(const Json& chat) {
    std::vector<Image> images;
    for (const Json& segment : chat.find("segments")->as_array()) {
      if (segment.is_string()) images.push_back(image_of(segment.as_string()));
    }
    const std::vector<uint32_t> ids = ids_of(*chat.find("ids"));
    const uint32_t placeholder = engine->compiled().vision->placeholder;
    // The recorded ids have a placeholder for each row, a prompt has one for each image.
    std::vector<uint32_t> written;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] != placeholder || i == 0 || ids[i - 1] != placeholder) written.push_back(ids[i]);
    }
    const auto named = engine->with_images(written, images);
    EXPECT_TRUE(named) << named.error().message;
    if (!named) return {};
    EXPECT_EQ(named->size(), ids.size());
    return *named;
  }
};

TEST_P(VisionGolden, TowersGiveTheRecordedRows) {
  const auto arrays = open_safetensors_file(folder + "/golden.safetensors");
  ASSERT_TRUE(arrays);
  const auto sight = Sight::make(engine->compiled(), engine->files(), setup.options);
  ASSERT_TRUE(sight) << sight.error().message;
  const auto backend = open_backend(setup.options);
  ASSERT_TRUE(backend);
  for (const Json& entry : golden.find("tower")->as_array()) {
    const std::string& file = entry.find("file")->as_string();
    SCOPED_TRACE(file);
    const auto named = (*sight)->see(image_of(file), **backend);
    ASSERT_TRUE(named) << named.error().message;
    const TensorInfo* expected = arrays->find(
        entry.find(entry.find("merged") != nullptr ? "merged" : "projected")->as_string());
    ASSERT_NE(expected, nullptr);
    const auto bytes = arrays->data(*expected);
    ASSERT_TRUE(bytes);
    std::vector<float> rows(bytes->size() / sizeof(float));
    std::memcpy(rows.data(), bytes->data(), bytes->size());
    const double error = relative_error(rows, (*sight)->rows().values(named->first_id));
    EXPECT_LE(error, std::min(setup.tolerance, 1e-4));
    fmt::print("tower {} {} {}: within {:.1e}\n", std::get<0>(GetParam()), setup.name, file, error);
  }
}

TEST_P(VisionGolden, PromptsWithImagesHaveTheRecordedLogitsAndTokens) {
  for (const Json& chat : golden.find("chats")->as_array()) {
    SCOPED_TRACE(chat.find("name")->as_string());
    const std::vector<uint32_t> ids = prompt_of(chat);
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
    // One by one, then as many as the device chooses by itself.
    const std::vector<uint32_t> expected = ids_of(*chat.find("greedy")->find("ids"));
    std::vector<uint32_t> chosen = {uint32_t(argmax(*logits))};
    for (size_t i = 0; i < 4; ++i) {
      logits = session->feed({&chosen.back(), 1});
      ASSERT_TRUE(logits) << logits.error().message;
      chosen.push_back(uint32_t(argmax(*logits)));
    }
    const auto more = session->greedy(chosen.back(), uint32_t(expected.size() - chosen.size()),
                                      [&](uint32_t id) { return chosen.push_back(id), true; });
    ASSERT_TRUE(more) << more.error().message;
    EXPECT_EQ(chosen, expected);
    fmt::print("chat {} {}, {} tokens: within {:.1e}\n", std::get<0>(GetParam()), setup.name,
               ids.size(), error);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, VisionGolden,
                         testing::Combine(testing::Values("gemma3_vl", "gemma4_vl",
                                                          "qwen3_5_vl_images"),
                                          testing::ValuesIn(setups())),
                         [](const auto& one) {
                           return fmt::format("{}_{}", std::get<0>(one.param),
                                              std::get<1>(one.param).name);
                         });

}  // namespace
}  // namespace tokamak::golden
