#include "model/unused_tensors.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace tokamak {
namespace {

TensorFile checkpoint(const std::vector<std::string>& names) {
  std::vector<TensorInfo> tensors;
  for (const std::string& name : names) {
    tensors.push_back({.name = name, .dtype = DType::kF32, .shape = {4, 4}, .bytes = 64});
  }
  auto source = memory_source("model.safetensors", std::vector<std::byte>(64));
  return TensorFile::make({std::move(source)}, std::move(tensors), Json()).value();
}

/// Reads "embed.weight" and another matrix.
Graph graph(const char* matrix = "layers.0.up.weight") {
  GraphBuilder b;
  const auto weight = [&](const char* name) {
    return b.constant(name, {4, 4}, DType::kF32, Weight{{name}});
  };
  ValueId x = b.embed(b.input("tokens", {kTokens}), weight("embed.weight"));
  return b.finish(b.linear(x, weight(matrix))).value();
}

TEST(UnusedTensors, NothingIsSaidOfTensorsThatAreRead) {
  const UnusedTensors unused =
      unused_tensors(checkpoint({"embed.weight", "layers.0.up.weight"}), graph());
  EXPECT_TRUE(unused.parts.empty());
  EXPECT_TRUE(unused.unknown.empty());
  EXPECT_EQ(unknown_tensors_notice(unused, "Llama"), "");
}

TEST(UnusedTensors, TowersAreLeftOutKnowingly) {
  const UnusedTensors unused =
      unused_tensors(checkpoint({"embed.weight", "layers.0.up.weight", "mtp.layers.0.a",
                                 "model.visual.b", "model.vision_tower.c", "vision_tower.d",
                                 "model.connector.e", "model.rotary_emb.inv_freq", "lm_head.weight",
                                 "rope_freqs.weight", "rope_factors_long.weight"}),
                     graph());
  const std::map<std::string, uint32_t> expected = {
      {"connector", 1}, {"mtp", 1}, {"visual", 1}, {"vision_tower", 2}};
  EXPECT_EQ(unused.parts, expected);
  EXPECT_TRUE(unused.unknown.empty());
}

TEST(UnusedTensors, PartsOfQuantisedMatricesBelongToTheirWeight) {
  const UnusedTensors unused = unused_tensors(
      checkpoint({"embed.weight", "embed.scales", "embed.biases", "layers.0.up.qweight",
                  "layers.0.up.qzeros", "layers.0.up.g_idx", "layers.1.up.qweight"}),
      graph());
  EXPECT_EQ(unused.unknown, std::vector<std::string>{"layers.1.up.qweight"});
}

TEST(UnusedTensors, BlocksAndScalesBelongToTheirMatrix) {
  const UnusedTensors unused =
      unused_tensors(checkpoint({"embed.weight", "experts.up_proj_blocks", "experts.up_proj_scales",
                                 "experts.down_proj_blocks"}),
                     graph("experts.up_proj"));
  EXPECT_EQ(unused.unknown, std::vector<std::string>{"experts.down_proj_blocks"});
}

TEST(UnusedTensors, TheNoticeNamesTheFirstOnes) {
  const UnusedTensors one = {.parts = {}, .unknown = {"a"}};
  EXPECT_EQ(unknown_tensors_notice(one, "Llama"),
            "Llama does not know 1 tensor of the checkpoint and leaves it out: \"a\".");
  const UnusedTensors four = {.parts = {}, .unknown = {"a", "b", "c", "d"}};
  EXPECT_EQ(unknown_tensors_notice(four, "Llama"),
            "Llama does not know 4 tensors of the checkpoint and leaves them out: \"a\", \"b\", "
            "\"c\" and 1 more.");
}

}  // namespace
}  // namespace tokamak
