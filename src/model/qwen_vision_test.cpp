// The fields of config.json that the towers of Qwen's models read, and their stages.
#include <gtest/gtest.h>

#include "formats/wishes.h"
#include "model/arch.h"

namespace tokamak {
namespace {

Json config_of(std::string_view architecture, const std::string& tower) {
  return *Json::parse(fmt::format(
      R"({{"architectures": ["{}"], "image_token_id": 7, "tie_word_embeddings": true,
      "text_config": {{"vocab_size": 8, "hidden_size": 8, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "intermediate_size": 6,
        "rope_scaling": {{"rope_type": "default", "mrope_section": [2, 1, 1]}}}},
      "vision_config": {{"depth": 4, "hidden_size": 8, "num_heads": 2, "intermediate_size": 6,
        "out_hidden_size": 8, "num_position_embeddings": 9{}{}}}}})",
      architecture, tower.empty() ? "" : ", ", tower));
}

Result<VisionTower> tower_of(std::string_view name, const std::string& fields) {
  const Json json = config_of(name, fields);
  const ConfigReader config(json, "config.json");
  const auto file = TensorFile::make({memory_source("none", {std::byte{0}})}, {}, Json());
  const Wishes wishes;
  return (*find_architecture(config))->vision(config, *file, {.pixels = 4096});
}

constexpr std::string_view kQwen3VL = "Qwen3VLForConditionalGeneration";

TEST(QwenVision, HasAStageForEachTappedBlock) {
  for (const auto& [indexes, stages] :
       {std::pair{"[]", 1u}, std::pair{"[1]", 2u}, std::pair{"[0, 3]", 3u}}) {
    const auto tower =
        tower_of(kQwen3VL, fmt::format(R"("deepstack_visual_indexes": {})", indexes));
    ASSERT_TRUE(tower) << tower.error().message;
    EXPECT_EQ(tower->stages.size(), stages) << indexes;
    EXPECT_EQ(tower->angles->rows, 1u);
  }
}

TEST(QwenVision, RefusesBlocksThatItCannotTap) {
  const auto error = [](std::string_view name, const std::string& indexes) {
    const auto tower = tower_of(name, fmt::format(R"("deepstack_visual_indexes": {})", indexes));
    return tower ? std::string() : tower.error().message;
  };
  const std::string field = "config.json: vision_config: deepstack_visual_indexes ";
  EXPECT_EQ(error(kQwen3VL, "[1, 4]"),
            field + "has 4 in place 1, expected ascending blocks below 4 (depth).");
  EXPECT_EQ(error(kQwen3VL, "[1, 1]"),
            field + "has 1 in place 1, expected ascending blocks below 4 (depth).");
  EXPECT_EQ(error(kQwen3VL, "[0, 1, 2]"),
            field + "has 3 blocks, expected at most as many as the text has layers, 2.");
  EXPECT_EQ(error("Qwen3_5ForConditionalGeneration", "[1]"),
            field + "is not empty; this engine runs this architecture without deepstack.");
}

/// Windows of fewer pixels than become a row hold nothing.
TEST(QwenVision, RefusesWindowsOfNoRow) {
  const auto error = [](const std::string& fields) {
    const auto tower = tower_of("Qwen2_5_VLForConditionalGeneration", fields);
    return tower ? std::string() : tower.error().message;
  };
  EXPECT_EQ(error(R"("window_size": 27)"),
            "config.json: vision_config: window_size is 27, expected at least spatial_merge_size * "
            "patch_size, 28.");
  EXPECT_EQ(error(R"("window_size": 28)"), "");
}

/// Silence means the reference's blocks, which this tower is too short for.
TEST(QwenVision, TapsTheUsualBlocksWithoutTheField) {
  const auto tower = tower_of(kQwen3VL, "");
  ASSERT_FALSE(tower);
  EXPECT_NE(tower.error().message.find("has 8 in place 0"), std::string::npos)
      << tower.error().message;
  EXPECT_TRUE(tower_of("Qwen3_5ForConditionalGeneration", ""));
}

}  // namespace
}  // namespace tokamak
