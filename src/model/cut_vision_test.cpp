// The fields that the towers of Idefics 3, Mistral 3, LLaVA and Gemma 4 read, of config.json and of
// the processor.
#include <gtest/gtest.h>

#include "formats/wishes.h"
#include "model/arch.h"

namespace tokamak {
namespace {

constexpr const char* kText =
    R"({"vocab_size": 8, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
        "num_key_value_heads": 1, "head_dim": 8, "intermediate_size": 6, "rms_norm_eps": 1e-5})";

std::string idefics3(const std::string& fields, const std::string& image = "32") {
  return fmt::format(
      R"({{"architectures": ["Idefics3ForConditionalGeneration"], "image_token_id": 7,
        "text_config": {}, "vision_config": {{"hidden_size": 8, "num_attention_heads": 2,
        "num_hidden_layers": 1, "intermediate_size": 6, "image_size": {}, "patch_size": 8}}{}}})",
      kText, image, fields);
}

std::string mistral3(const std::string& fields, const std::string& head = "4") {
  return fmt::format(
      R"({{"architectures": ["Mistral3ForConditionalGeneration"], "text_config": {},
        "vision_config": {{"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1,
        "intermediate_size": 6, "image_size": 64, "patch_size": 8, "head_dim": {}}}{}}})",
      kText, head, fields);
}

std::string llava(const std::string& fields) {
  return fmt::format(
      R"({{"architectures": ["LlavaForConditionalGeneration"], "text_config": {},
        "vision_config": {{"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1,
        "intermediate_size": 6, "image_size": 64, "patch_size": 8}}{}}})",
      kText, fields);
}

std::string gemma4(uint32_t positions) {
  return fmt::format(
      R"({{"architectures": ["Gemma4ForConditionalGeneration"], "image_token_id": 7,
        "text_config": {}, "vision_config": {{"hidden_size": 8, "num_attention_heads": 2,
        "num_hidden_layers": 1, "intermediate_size": 6, "head_dim": 4, "patch_size": 8,
        "position_embedding_size": {}}}}})",
      kText, positions);
}

Result<VisionTower> tower_of(const std::string& text, const std::string& processor = "{}") {
  const Json json = *Json::parse(text), own = *Json::parse(processor);
  const ConfigReader config(json, "config.json");
  const auto file = TensorFile::make({memory_source("none", {std::byte{0}})}, {}, Json());
  const Wishes wishes;
  return (*find_architecture(config))->vision(config, *file, {.pixels = 4096, .processor = &own});
}

std::string error_of(const std::string& text, const std::string& processor = "{}") {
  const auto tower = tower_of(text, processor);
  return tower ? std::string() : tower.error().message;
}

TEST(CutVision, CountsTheSquaresOfTheLargestImage) {
  const auto most = [](const std::string& processor) {
    const auto tower = tower_of(idefics3(", \"scale_factor\": 2"), processor);
    EXPECT_TRUE(tower) << tower.error().message;
    return tower ? tower->max_image_rows() / tower->max_rows() : 0;
  };
  EXPECT_EQ(most("{}"), 4u * 4 + 1);
  EXPECT_EQ(most(R"({"size": {"longest_edge": 72}})"), 3u * 3 + 1);
  EXPECT_EQ(most(R"({"size": {"longest_edge": 32}})"), 1u);
  EXPECT_EQ(most(R"({"do_image_splitting": false})"), 1u);
  EXPECT_EQ(most(R"({"size": {"longest_edge": 100000}})"), 128u * 128 + 1) << "4,096 pixels";
}

TEST(CutVision, NamesWhatDoesNotFit) {
  EXPECT_EQ(error_of(idefics3(", \"scale_factor\": 3")),
            "config.json: scale_factor: images of 4 patches of a side are not whole squares of 3.");
  EXPECT_EQ(error_of(idefics3("", "33")),
            "config.json: vision_config: images of 33 pixels are not whole patches of 8.");
  EXPECT_EQ(error_of(idefics3(""), R"({"max_image_size": {"longest_edge": 64}})"),
            "preprocessor_config.json: max_image_size: longest_edge is 64, but image_size of the "
            "tower is 32.");
  EXPECT_EQ(error_of(idefics3(""), R"({"do_resize": false})"),
            "preprocessor_config.json: do_resize is false; this engine cuts images of whole "
            "squares.");
  EXPECT_EQ(error_of(idefics3(", \"vocab_size\": 9")),
            "config.json: vocab_size is 9, but config.json: text_config: vocab_size is 8.");
  EXPECT_EQ(error_of(mistral3(", \"vision_feature_layer\": -2")),
            "config.json: vision_feature_layer is -2; this engine reads the last layer of the "
            "tower, -1.");
  EXPECT_EQ(error_of(llava("")),
            "config.json: vision_feature_layer is -2, which it is where it is not given; this "
            "engine knows one layer of the 1 there are, as -2.");
  EXPECT_EQ(error_of(llava(", \"vision_feature_layer\": [-2, -3]")),
            "config.json: vision_feature_layer is [-2, -3]; this engine knows one layer of the 1 "
            "there are, as -2.");
  EXPECT_EQ(error_of(mistral3("", "8")),
            "config.json: vision_config: 2 heads of 8 elements; this engine turns heads of a "
            "multiple of 4 that make the hidden_size, 8.");
}

TEST(CutVision, KeepsImagesWithinThoseThatTheTowerWasTrainedOn) {
  const auto longest = [](const std::string& processor) {
    const auto tower = tower_of(mistral3(""), processor);
    EXPECT_TRUE(tower) << tower.error().message;
    return tower ? std::get<LineMarks>(tower->parts).longest : 0;
  };
  EXPECT_EQ(longest("{}"), 64u);
  EXPECT_EQ(longest(R"({"size": {"longest_edge": 48}})"), 48u);
  EXPECT_EQ(longest(R"({"size": {"longest_edge": 480}})"), 64u);
}

TEST(CutVision, TakesTheTokensOfGemma4sProcessorWhateverTheLimitOfPixels) {
  const auto most = [](const std::string& processor) {
    const auto tower = tower_of(gemma4(10240), processor);
    EXPECT_TRUE(tower) << tower.error().message;
    return tower ? tower->max_rows() : 0;
  };
  EXPECT_EQ(most("{}"), 280u);
  EXPECT_EQ(most(R"({"max_soft_tokens": 1120})"), 1120u);
  EXPECT_EQ(most(R"({"max_soft_tokens": 70})"), 70u);
  EXPECT_EQ(error_of(gemma4(128), R"({"max_soft_tokens": 129})"),
            "preprocessor_config.json: max_soft_tokens is 129, expected at most 128, "
            "position_embedding_size of the tower.");
}

}  // namespace
}  // namespace tokamak
