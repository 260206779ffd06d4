#include "report/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tokamak {
namespace {

ModelFiles read(const char* name) {
  auto files = read_model_files(std::string(TOKAMAK_TEST_DATA "/models/") + name);
  EXPECT_TRUE(files) << files.error().message;
  return files ? *std::move(files) : ModelFiles();
}

const SupportRow* find(const std::vector<SupportRow>& rows, std::string_view part) {
  const auto found = std::ranges::find(rows, part, &SupportRow::part);
  return found == rows.end() ? nullptr : &*found;
}

TEST(Support, SaysWhatRunsAndWhatIsLeftOut) {
  const auto rows = support(read("gemma3_mm"), {});
  ASSERT_NE(find(rows, "architecture"), nullptr);
  EXPECT_TRUE(find(rows, "architecture")->cpu);
  EXPECT_EQ(find(rows, "architecture")->what, "Gemma3ForConditionalGeneration");
  ASSERT_NE(find(rows, "model"), nullptr);
  EXPECT_TRUE(find(rows, "model")->cpu && find(rows, "model")->webgpu);
  ASSERT_NE(find(rows, "vision_tower"), nullptr);
  EXPECT_FALSE(find(rows, "vision_tower")->cpu);
  EXPECT_NE(find(rows, "vision_tower")->what.find("without them"), std::string::npos);
  EXPECT_FALSE(find(rows, "tokenizer")->cpu) << "the folder has none";
}

TEST(Support, OneStageThatFailsHidesNoOther) {
  ModelFiles files = read("llama_untied");
  files.description.config = *Json::parse(R"({"architectures": ["NobodyForCausalLM"]})");
  const auto rows = support(files, {});
  EXPECT_FALSE(find(rows, "architecture")->webgpu);
  EXPECT_NE(find(rows, "architecture")->what.find("NobodyForCausalLM"), std::string::npos);
  EXPECT_TRUE(find(rows, "tensors")->cpu);
  EXPECT_FALSE(find(rows, "model")->cpu);
}

TEST(Support, NamesTensorsThatNobodyReads) {
  ModelFiles files = read("llama_untied");
  std::vector<TensorInfo> tensors(files.tensors.tensors().begin(), files.tensors.tensors().end());
  tensors.push_back(tensors.front());
  tensors.back().name = "model.layers.0.self_attn.sinks";
  const auto sources = files.tensors.sources();
  files.tensors =
      TensorFile::make({sources.begin(), sources.end()}, std::move(tensors), Json()).value();
  const auto rows = support(files, {});
  ASSERT_NE(find(rows, "other tensors"), nullptr);
  EXPECT_NE(find(rows, "other tensors")->what.find("self_attn.sinks"), std::string::npos);
}

}  // namespace
}  // namespace tokamak
