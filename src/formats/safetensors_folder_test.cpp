// Model folders: the index, shards and their mistakes.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "formats/native_files.h"
#include "formats/safetensors.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;
const fs::path kModels = fs::absolute(fs::path(TOKAMAK_TEST_DATA) / "models");

struct SafetensorsFolder : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) / fmt::format("safetensors_folder.{}", ::getpid());
  fs::path index = folder / "model.safetensors.index.json";

  SafetensorsFolder() {
    fs::remove_all(folder);
    fs::copy(kModels / "llama_sharded", folder);
  }
  ~SafetensorsFolder() override { fs::remove_all(folder); }

  std::string shard(int number) const {
    return (folder / fmt::format("model-0000{}-of-00003.safetensors", number)).string();
  }
  /// Replaces the first `from` in the index.
  void edit_index(std::string_view from, std::string_view to) {
    std::string text = *read_text_file(index.string(), 1'000'000);
    const size_t at = text.find(from);
    ASSERT_NE(at, text.npos);
    std::ofstream(index, std::ios::binary) << text.replace(at, from.size(), to);
  }
  std::string message() const {
    auto result = open_safetensors_folder(folder.string());
    return result ? "no error" : result.error().message;
  }
};

TEST_F(SafetensorsFolder, ReadsAllShards) {
  auto file = open_safetensors_folder(folder.string());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->sources().size(), 3u);
  EXPECT_EQ(describe(*file->find("lm_head.weight")), "f16[512, 64]");
  EXPECT_EQ(file->file_name(*file->find("lm_head.weight")), shard(3));
  EXPECT_EQ(file->file_name(*file->find("model.embed_tokens.weight")), shard(1));
  for (const TensorInfo& tensor : file->tensors()) {
    EXPECT_EQ(file->data(tensor)->size(), tensor.bytes) << tensor.name;
  }
}

TEST_F(SafetensorsFolder, ReadsMoreShardsThanAProcessMayHoldOpen) {
  std::string map;
  for (int i = 0; i < 100; ++i) {
    const std::string header =
        fmt::format(R"({{"t{}":{{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}}})", i);
    const std::string size{char(header.size()), 0, 0, 0, 0, 0, 0, 0};
    std::ofstream(folder / fmt::format("{}.safetensors", i), std::ios::binary)
        << size << header << "ab";
    map += fmt::format(R"({}"t{}":"{}.safetensors")", i == 0 ? "" : ",", i, i);
  }
  std::ofstream(index, std::ios::binary) << R"({"weight_map":{)" << map << "}}";
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit few{64, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto file = open_safetensors_folder(folder.string());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->sources().size(), 100u);
}

TEST_F(SafetensorsFolder, ReadsASingleFile) {
  auto file = open_safetensors_folder((kModels / "llama_untied").string());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(describe(*file->find("model.norm.weight")), "bf16[64]");
  EXPECT_EQ(file->sources().size(), 1u);
}

TEST_F(SafetensorsFolder, ReadsEveryModelOfTheTestData) {
  size_t models = 0;
  for (const auto& model : fs::directory_iterator(kModels)) {
    auto file = open_safetensors_folder(model.path().string());
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_GT(file->tensors().size(), 10u) << model.path();
    ++models;
  }
  EXPECT_GE(models, 7u);
}

TEST_F(SafetensorsFolder, FollowsSymbolicLinks) {
  const fs::path link = folder / "linked";
  fs::create_directory(link);
  fs::create_symlink(fs::absolute(kModels / "llama_untied" / "model.safetensors"),
                     link / "model.safetensors");
  EXPECT_TRUE(open_safetensors_folder(link.string()));
}

TEST_F(SafetensorsFolder, RejectsAFolderWithoutWeights) {
  fs::remove(index);
  EXPECT_EQ(message(), folder.string() +
                           ": The folder holds neither model.safetensors nor "
                           "model.safetensors.index.json.");
  fs::remove_all(folder);
  EXPECT_EQ(message(), folder.string() + ": The model folder does not exist.");
  std::ofstream(folder) << "x";
  EXPECT_EQ(message(), folder.string() + ": The model folder is a file.");
}

TEST_F(SafetensorsFolder, NamesTheFileOfABrokenShard) {
  fs::resize_file(shard(2), 5);
  EXPECT_EQ(message(), shard(2) + ": The file has 5 bytes; a safetensors file has at least 8.");
}

// Group 26.
TEST_F(SafetensorsFolder, RejectsIndexMissingShard) {
  fs::remove(shard(2));
  EXPECT_EQ(message(), fmt::format("{} names \"model-00002-of-00003.safetensors\": {}: Cannot open "
                                   "the file: No such file or directory.",
                                   index.string(), shard(2)));
}

// Group 27.
TEST_F(SafetensorsFolder, RejectsIndexWrongShard) {
  edit_index(R"("lm_head.weight": "model-00003)", R"("lm_head.weight": "model-00001)");
  EXPECT_EQ(
      message(),
      index.string() +
          ": Tensor \"lm_head.weight\" is placed in \"model-00001-of-00003.safetensors\", but "
          "that file does not hold it.");
}

// Group 27.
TEST_F(SafetensorsFolder, RejectsIndexOutsideItsFolder) {
  std::string before = "model-00003-of-00003.safetensors";
  for (const std::string name :
       {"../../etc/passwd", "/etc/passwd", "..", ".", "", "sub/x", "c:x", "a\\\\b"}) {
    edit_index("\"lm_head.weight\": \"" + before + "\"", "\"lm_head.weight\": \"" + name + "\"");
    EXPECT_NE(message().find(": Tensor \"lm_head.weight\" is placed in \""), std::string::npos)
        << name;
    EXPECT_NE(message().find("\"; expected the name of a file in the same folder."),
              std::string::npos)
        << name;
    before = name;
  }
}

// Group 28.
TEST_F(SafetensorsFolder, RejectsIndexNotJson) {
  fs::resize_file(index, fs::file_size(index) / 2);
  EXPECT_NE(message().find(index.string() + ": The JSON text "), std::string::npos) << message();
}

// Group 29.
TEST_F(SafetensorsFolder, RejectsShardSwap) {
  fs::rename(shard(1), folder / "x");
  fs::rename(shard(3), shard(1));
  fs::rename(folder / "x", shard(3));
  EXPECT_NE(message().find("but that file does not hold it."), std::string::npos) << message();
}

TEST(SafetensorsIndex, RejectsOtherForms) {
  const auto message_of = [](std::string_view text) {
    auto index = parse_safetensors_index("i", text);
    return index ? "no error" : index.error().message;
  };
  EXPECT_EQ(message_of("{}"), "i: \"weight_map\" is missing; expected an object.");
  EXPECT_EQ(message_of(R"({"weight_map": []})"),
            "i: \"weight_map\" is an array; expected an object.");
  EXPECT_EQ(message_of(R"({"weight_map": {}})"), "i: \"weight_map\" names no tensor.");
  EXPECT_EQ(message_of(R"({"weight_map": {"a": 3}})"),
            "i: Tensor \"a\" is placed in \"3\"; expected the name of a file in the same folder.");
  EXPECT_EQ(message_of(R"({"weight_map": {"a": "x", "a": "y"}})"),
            "i: \"weight_map\" names tensor \"a\" twice.");
  EXPECT_EQ(message_of(R"({"weight_map": {"a": "x", "b": "y", "c": "x"}})"), "no error");
}

}  // namespace
}  // namespace tokamak
