#include "hub/repo_files.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tokamak::hub {
namespace {

using Paths = std::vector<std::string>;

RepoListing listing(Paths paths) {
  std::ranges::sort(paths);
  RepoListing out;
  for (std::string& path : paths) out.files.push_back({std::move(path), 1, std::string(40, 'a')});
  return out;
}

Paths needed(const RepoListing& repo, std::string_view choice = "",
             const LookedUp& looked_up = {}) {
  const auto files = needed_files(repo, choice, looked_up);
  if (!files) return {files.error().message};
  Paths paths;
  for (const RepoFile& file : *files) paths.push_back(file.path);
  return paths;
}

TEST(NeededFiles, AreTextsAndTheWeightsOnce) {
  EXPECT_EQ(
      needed(listing({"config.json", "tokenizer.json", "tokenizer.model", "vocab.txt", "merges.txt",
                      "chat_template.jinja", "README.md", ".gitattributes", "model.safetensors",
                      "consolidated.safetensors", "pytorch_model.bin", "model.fp16.safetensors",
                      "pytorch_model.bin.index.json", "onnx/config.json", "original/params.json",
                      "tf_model.h5", "model.gguf"})),
      (Paths{"chat_template.jinja", "config.json", "merges.txt", "model.safetensors",
             "tokenizer.json", "tokenizer.model", "vocab.txt"}));
}

TEST(NeededFiles, AreTheShardsOfTheIndexAndTheFoldersOfTheModules) {
  const RepoListing repo =
      listing({"config.json", "modules.json", "model.safetensors.index.json", "m-1.safetensors",
               "m-2.safetensors", "m-3.safetensors", "1_Pooling/config.json", "2_Dense/config.json",
               "2_Dense/model.safetensors", "2_Dense/pytorch_model.bin"});
  EXPECT_EQ(files_to_look_up(repo, ""), (Paths{"model.safetensors.index.json", "modules.json"}));
  EXPECT_EQ(files_to_look_up(repo, "Q4_0"), Paths{});
  EXPECT_EQ(needed(repo, "",
                   {.shards = {"m-1.safetensors", "m-2.safetensors"},
                    .folders = {"1_Pooling", "2_Dense"}}),
            (Paths{"1_Pooling/config.json", "2_Dense/config.json", "2_Dense/model.safetensors",
                   "config.json", "m-1.safetensors", "m-2.safetensors",
                   "model.safetensors.index.json", "modules.json"}));
  EXPECT_NE(needed(repo, "", {.shards = {"m-4.safetensors"}, .folders = {}})[0].find("m-4"),
            std::string::npos);
}

TEST(NeededFiles, AreLayersForSparseVectors) {
  EXPECT_EQ(needed(listing({"colbert_linear.pt", "config.json", "model.safetensors",
                            "pytorch_model.bin", "sparse_linear.pt"})),
            (Paths{"config.json", "model.safetensors", "sparse_linear.pt"}));
}

TEST(NeededFiles, ReportWhichWeightsThereAreWhenNoneCanBeRead) {
  const auto files = needed_files(listing({"config.json", "pytorch_model.bin"}), "", {});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(files.error().message.find("pytorch_model.bin"), std::string::npos);
}

TEST(NeededFiles, AreTheOnlyGgufFileWhenThereIsNothingElse) {
  EXPECT_EQ(needed(listing({"a-Q8_0.gguf", "mmproj-a.gguf", "config.json"})), Paths{"a-Q8_0.gguf"});
}

Paths chosen(const Paths& paths, std::string_view choice) {
  const auto files = choose_gguf(paths, choice);
  return files ? *files : Paths{"error: " + files.error().message};
}

TEST(ChooseGguf, GoesByPathNameOrQuantization) {
  const Paths paths = {"a-Q4_K_M.gguf", "a-Q4_K_S.gguf", "x/a_F16.gguf", "a-UD-Q4_K_XL.gguf",
                       "a-IQ4_XS.gguf"};
  EXPECT_EQ(chosen(paths, "Q4_K_M"), Paths{"a-Q4_K_M.gguf"});
  EXPECT_EQ(chosen(paths, "q4_k_s"), Paths{"a-Q4_K_S.gguf"});
  EXPECT_EQ(chosen(paths, "F16"), Paths{"x/a_F16.gguf"});
  EXPECT_EQ(chosen(paths, "x/a_F16.gguf"), Paths{"x/a_F16.gguf"});
  EXPECT_EQ(chosen(paths, "a_F16.gguf"), Paths{"x/a_F16.gguf"});
  EXPECT_EQ(chosen(paths, "Q4_K_XL"), Paths{"a-UD-Q4_K_XL.gguf"});
  for (const char* none : {"Q4_K", "Q4_XS", "K_M", "4_K_M", "gg"}) {
    EXPECT_TRUE(chosen(paths, none)[0].starts_with("error: no .gguf file goes")) << none;
  }
}

TEST(ChooseGguf, TakesAllPiecesOfASplitFile) {
  const Paths paths = {"a-Q4_0-00002-of-00002.gguf", "a-Q4_0-00001-of-00002.gguf", "a-Q8_0.gguf"};
  const Paths both = {"a-Q4_0-00001-of-00002.gguf", "a-Q4_0-00002-of-00002.gguf"};
  EXPECT_EQ(chosen(paths, "Q4_0"), both);
  EXPECT_EQ(chosen(paths, "a-Q4_0-00001-of-00002.gguf"), both);
}

TEST(ChooseGguf, TakesTheDefaultQuantizationOfSeveral) {
  const Paths paths = {"a-Q4_K_S.gguf", "a-Q4_K_M.gguf", "a-Q8_0.gguf", "mmproj-a.gguf"};
  EXPECT_EQ(chosen(paths, ""), Paths{"a-Q4_K_M.gguf"});
  EXPECT_TRUE(chooses_default(paths));
  EXPECT_FALSE(chooses_default(Paths{"a-Q4_K_M.gguf", "mmproj-a.gguf"})) << "nothing to choose";
  EXPECT_FALSE(chooses_default(Paths{"a-Q4_K_S.gguf", "a-Q8_0.gguf"}));
  EXPECT_FALSE(chooses_default(Paths{"a-Q4_K_M.gguf", "b-Q4_K_M.gguf"})) << "which of the two?";
}

TEST(ChooseGguf, NamesTheCandidatesWhenSeveralGo) {
  const Paths paths = {"a-Q4_0.gguf", "b-Q4_0.gguf", "mmproj-Q4_0.gguf"};
  for (const char* choice : {"", "Q4_0"}) {
    const std::string error = chosen(paths, choice)[0];
    EXPECT_TRUE(error.starts_with("error: 2 .gguf files")) << error;
    EXPECT_NE(error.find("a-Q4_0.gguf, b-Q4_0.gguf"), std::string::npos) << error;
    EXPECT_NE(error.find("`tokamak pull org/name:a-Q4_0.gguf`"), std::string::npos) << error;
    EXPECT_EQ(choose_gguf(paths, choice).error().code, ErrorCode::kUsage);
  }
  EXPECT_EQ(chosen({}, "")[0], "error: there is no .gguf file.");
}

TEST(Modules, NameFoldersOfTheRepository) {
  EXPECT_EQ(*parse_modules(R"([{"idx": 0, "path": ""}, {"path": "1_Pooling"}])"),
            Paths{"1_Pooling"});
  for (const char* text : {"{}", "[1]", R"([{"path": "../x"}])", R"([{"path": 1}])", "["}) {
    EXPECT_FALSE(parse_modules(text)) << text;
  }
}

}  // namespace
}  // namespace tokamak::hub
