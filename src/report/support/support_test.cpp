#include "report/support/support.h"

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

TEST(Support, ReportsWhatRunsAndWhatIsLeftOut) {
  const auto rows = support(read("gemma3_mm"), {}, {});
  ASSERT_NE(find(rows, "architecture"), nullptr);
  EXPECT_TRUE(*find(rows, "architecture")->cpu);
  EXPECT_EQ(find(rows, "architecture")->what, "Gemma3ForConditionalGeneration");
  ASSERT_NE(find(rows, "model"), nullptr);
  const SupportRow& model = *find(rows, "model");
  EXPECT_TRUE(*model.cpu && *model.cuda && *model.webgpu);
  EXPECT_EQ(find(rows, "vision_tower"), nullptr) << "it is read";
  EXPECT_FALSE(*find(rows, "tokenizer")->cpu) << "the folder has none";
}

TEST(Support, CountsATowerThatIsReadAsRead) {
  ModelFiles files = read("gemma3_mm");
  const auto rows = support(files, {}, {});
  ASSERT_NE(find(rows, "images"), nullptr);
  EXPECT_TRUE(*find(rows, "images")->cpu && *find(rows, "images")->webgpu);
  EXPECT_EQ(find(rows, "vision_tower"), nullptr);
  EXPECT_EQ(find(rows, "multi_modal_projector"), nullptr);

  // Without its projector a tower is of no use.
  std::vector<TensorInfo> tensors;
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    if (tensor.name.find("mm_input_projection") == std::string::npos) tensors.push_back(tensor);
  }
  const auto sources = files.tensors.sources();
  auto fewer = TensorFile::make({sources.begin(), sources.end()}, std::move(tensors), {});
  ASSERT_TRUE(fewer) << fewer.error().message;
  files.tensors = *std::move(fewer);
  const auto without = support(files, {}, {});
  ASSERT_NE(find(without, "images"), nullptr);
  EXPECT_FALSE(*find(without, "images")->cpu);
  EXPECT_NE(find(without, "images")->what.find("projector"), std::string::npos);
  EXPECT_TRUE(*find(without, "model")->cpu);
  ASSERT_NE(find(without, "vision_tower"), nullptr);
  EXPECT_FALSE(*find(without, "vision_tower")->cpu);
  EXPECT_NE(find(without, "vision_tower")->what.find("without them"), std::string::npos);
}

TEST(Support, OneStageThatFailsHidesNoOther) {
  ModelFiles files = read("llama_untied");
  files.description.config.set("architectures", Json::Array{"NobodyForCausalLM"});
  files.description.config.set("index_topk", 2048);
  const auto rows = support(files, {}, {});
  const SupportRow& architecture = *find(rows, "architecture");
  EXPECT_FALSE(*architecture.webgpu);
  EXPECT_EQ(architecture.id, "architecture/NobodyForCausalLM");
  EXPECT_NE(architecture.what.find("NobodyForCausalLM"), std::string::npos);
  ASSERT_NE(find(rows, "nearest"), nullptr);
  EXPECT_EQ(find(rows, "nearest")->id, "nearest/LlamaForCausalLM");
  EXPECT_FALSE(find(rows, "nearest")->cpu.has_value()) << "it is no matter of backends";
  ASSERT_NE(find(rows, "config"), nullptr);
  EXPECT_EQ(find(rows, "config")->what, "read by nothing: index_topk");
  EXPECT_TRUE(*find(rows, "weights")->cpu);
  EXPECT_TRUE(*find(rows, "operations")->webgpu);
  EXPECT_FALSE(*find(rows, "model")->cpu);
}

TEST(Support, ListsTypesThatAreNotRead) {
  ModelFiles files = read("llama_untied");
  const auto all = files.tensors.tensors();
  const auto sources = files.tensors.sources();
  std::vector<TensorInfo> tensors(all.begin() + 1, all.end());
  const UnreadTensors unread = {
      {.name = all[0].name, .type = "IQ3_S", .shape = all[0].shape, .bytes = 12345}};
  files.tensors =
      TensorFile::make({sources.begin(), sources.end()}, std::move(tensors), Json()).value();
  const auto rows = support(files, unread, {});
  const auto found = std::ranges::find(rows, "weights/IQ3_S", &SupportRow::id);
  ASSERT_NE(found, rows.end());
  EXPECT_FALSE(*found->cpu);
  EXPECT_NE(found->what.find(unread[0].name), std::string::npos) << found->what;
  EXPECT_TRUE(*find(rows, "weights")->cpu) << "the others are read";
  EXPECT_TRUE(*find(rows, "operations")->cpu) << "its graph is that of the config";
  EXPECT_NE(find(rows, "model")->what.find("IQ3_S"), std::string::npos);
}

TEST(Support, NamesTensorsThatNobodyReads) {
  ModelFiles files = read("llama_untied");
  std::vector<TensorInfo> tensors(files.tensors.tensors().begin(), files.tensors.tensors().end());
  tensors.push_back(tensors.front());
  tensors.back().name = "model.layers.0.self_attn.sinks";
  const auto sources = files.tensors.sources();
  files.tensors =
      TensorFile::make({sources.begin(), sources.end()}, std::move(tensors), Json()).value();
  const auto rows = support(files, {}, {});
  ASSERT_NE(find(rows, "other tensors"), nullptr);
  EXPECT_NE(find(rows, "other tensors")->what.find("self_attn.sinks"), std::string::npos);
}

}  // namespace
}  // namespace tokamak
