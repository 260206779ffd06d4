#include "model/description.h"

#include <gtest/gtest.h>

#include "formats/native_files.h"

namespace tokamak {
namespace {

using Files = std::map<std::string, std::string>;  // texts by name

/// `asked` counts how often each file was asked for.
ReadText reader_of(const Files& files, std::map<std::string, int>& asked) {
  return [&](const std::string& file) -> Result<std::string> {
    ++asked[file];
    const auto found = files.find(file);
    return found == files.end() ? "" : found->second;
  };
}

std::string message(const Files& files) {
  std::map<std::string, int> asked;
  const auto description = read_description(reader_of(files, asked));
  return description ? "no error" : description.error().message;
}

TEST(Description, AsksForEveryFileOfAFolderOnce) {
  const std::string folder = TOKAMAK_TEST_DATA "/embeddings/embeddinggemma/";
  std::map<std::string, int> asked;
  const auto description = read_description([&](const std::string& file) -> Result<std::string> {
    ++asked[file];
    if (!file_exists(folder + file)) return "";
    return read_text_file(folder + file, 1 << 20);
  });
  ASSERT_TRUE(description) << description.error().message;
  const std::map<std::string, int> once = {{"config.json", 1},
                                           {"generation_config.json", 1},
                                           {"quantize_config.json", 1},
                                           {"tokamak.json", 1},
                                           {"preprocessor_config.json", 1},
                                           {"processor_config.json", 1},
                                           {"modules.json", 1},
                                           {"config_sentence_transformers.json", 1},
                                           {"sentence_bert_config.json", 1},
                                           {"1_Pooling/config.json", 1},
                                           {"2_Dense/config.json", 1},
                                           {"3_Dense/config.json", 1},
                                           {"4_Normalize/config.json", 1}};
  EXPECT_EQ(asked, once);
  EXPECT_EQ(description->reader().where(), "config.json");
  EXPECT_EQ(*description->config.find("model_type"), Json("gemma3_text"));
  EXPECT_FALSE(description->quantize_config || description->hints);
  ASSERT_TRUE(description->encoder);
  EXPECT_EQ(description->encoder->modules.size(), 5u);
  EXPECT_EQ(description->encoder->configs.size(), 3u);
  EXPECT_TRUE(description->encoder->prompts);
}

TEST(Description, KeepsWhatThereIsAndNoMore) {
  std::map<std::string, int> asked;
  const Files files = {{"config.json", R"({"a": 1})"},
                       {"generation_config.json", "{}"},
                       {"quantize_config.json", R"({"bits": 4})"},
                       {"tokamak.json", R"({"kv": "f32"})"}};
  const auto description = read_description(reader_of(files, asked));
  ASSERT_TRUE(description) << description.error().message;
  EXPECT_EQ(description->config.dump(), R"({"a": 1})");
  EXPECT_EQ(description->generation_config, Json(Json::Object{}));
  EXPECT_EQ(description->quantize_config->dump(), R"({"bits": 4})");
  EXPECT_EQ(description->hints->dump(), R"({"kv": "f32"})");
  EXPECT_FALSE(description->encoder);
  EXPECT_EQ(description->origin + description->pooling, "");
}

TEST(Description, NamesTheFileThatIsNoJson) {
  for (const char* file : {"config.json", "generation_config.json", "quantize_config.json",
                           "tokamak.json", "modules.json"}) {
    EXPECT_TRUE(message({{file, "{"}}).starts_with(fmt::format("{}: ", file))) << file;
  }
  std::map<std::string, int> asked;
  const auto without = read_description(reader_of({}, asked));
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_EQ(without->reader().status().error().message,
            "config.json: found null, expected an object.");
}

}  // namespace
}  // namespace tokamak
