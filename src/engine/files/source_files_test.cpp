#include "engine/files/source_files.h"

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "formats/copied_source_test.h"
#include "formats/native_files.h"

namespace tokamak {
namespace {

constexpr const char* kModel = TOKAMAK_SOURCE_DIR "/models/storyteller";

SourceFiles storyteller() {
  SourceFiles files;
  for (const char* name :
       {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json",
        "special_tokens_map.json", "chat_template.jinja", "model.safetensors"}) {
    const auto source = open_file(std::string(kModel) + "/" + name);
    EXPECT_TRUE(source) << source.error().message;
    files[name] = std::make_shared<CopiedSource>(*source);
  }
  return files;
}

TEST(SourceFiles, HaveTheTemplateOfAnOlderFileToo) {
  const auto with = [](const char* json, bool has_jinja) {
    SourceFiles files = storyteller();
    if (!has_jinja) files.erase("chat_template.jinja");
    const auto bytes = std::as_bytes(std::span(std::string_view(json)));
    files["chat_template.json"] = memory_source("chat_template.json", {bytes.begin(), bytes.end()});
    return read_model_files("storyteller", files);
  };
  EXPECT_EQ(with(R"({"chat_template": "OLD"})", false)->chat_template, "OLD");
  EXPECT_NE(with(R"({"chat_template": "OLD"})", true)->chat_template, "OLD");
  EXPECT_EQ(with(R"({"chat_template": 5})", false).error().message,
            "chat_template.json: chat_template is 5, expected a string.");
}

TEST(SourceFiles, GiveTheTextOfTheFolderWhenReadInPieces) {
  std::vector<Generation> results;
  for (auto files : {read_model_files(kModel), read_model_files("storyteller", storyteller())}) {
    ASSERT_TRUE(files) << files.error().message;
    auto engine = Engine::load(*std::move(files), make_cpu_backend(), {}, steady_clock());
    ASSERT_TRUE(engine) << engine.error().message;
    auto result =
        (*engine)->generate("Once upon a time", {.sampling = {.temperature = 0}, .max_tokens = 3});
    ASSERT_TRUE(result) << result.error().message;
    results.push_back(*std::move(result));
  }
  EXPECT_EQ(results[0].ids, (std::vector<uint32_t>{271, 592, 1884}));
  EXPECT_EQ(results[1].ids, results[0].ids);
  EXPECT_EQ(results[1].text, results[0].text);
}

TEST(SourceFiles, NameWhatIsMissing) {
  SourceFiles files = storyteller();
  files.erase("model.safetensors");
  const auto weightless = read_model_files("storyteller", files);
  ASSERT_FALSE(weightless);
  EXPECT_EQ(weightless.error().message,
            "The model has neither model.safetensors nor model.safetensors.index.json.");
  files["model.safetensors.index.json"] = memory_source("index", {});
  const auto empty = read_model_files("storyteller", files);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "model.safetensors.index.json: The file is empty.");
  files.erase("config.json");
  const auto nothing = read_model_files("storyteller", files);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message, "storyteller has no config.json.");
}

}  // namespace
}  // namespace tokamak
