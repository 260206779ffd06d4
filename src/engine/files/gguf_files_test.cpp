// The fields of a GGUF file in place of the texts of a model folder.
#include "engine/files/gguf_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "engine/engine.h"
#include "formats/native_files.h"

namespace tokamak {
namespace {

const std::string kGemma = TOKAMAK_TEST_DATA "/gguf/gemma3-mixed.gguf";

GgufFile file_of(Json values) {
  return {TensorFile(), GgufMetadata(memory_source("m.gguf", {}), std::move(values), {})};
}

TEST(GgufFiles, FindTheEndsOfATurnByNameToo) {
  const auto file = open_gguf(kGemma);
  ASSERT_TRUE(file) << file.error().message;
  const auto files = gguf_text_files(*file);
  ASSERT_TRUE(files) << files.error().message;
  // <eos>, which the file names, and <end_of_turn>, which it only has.
  EXPECT_EQ(files->description.generation_config->find("eos_token_id")->dump(), "[1, 5]");
  EXPECT_EQ(*Json::parse(files->tokenizer_config)->find("bos_token"), Json("<bos>"));
  ASSERT_TRUE(files->vocab);
  EXPECT_EQ(files->vocab->model, "llama");
  EXPECT_EQ(files->vocab->architecture, "gemma3");
  EXPECT_EQ(files->vocab->tokens.size(), 512u);
  EXPECT_EQ(files->vocab->add_space_prefix, false);
  EXPECT_EQ(files->vocab->unk, 3u);
  EXPECT_EQ(files->vocab->eot, std::nullopt);
}

/// A token that is plain text in this vocabulary ends nothing, whatever its name.
TEST(GgufFiles, GiveNoEndsThatAreText) {
  std::vector<std::byte> bytes;
  const auto add = [&](const auto& value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  };
  for (const std::string_view token : {"<|im_end|>", "<|end|>"}) {
    add(uint64_t{token.size()});
    for (const char c : token) add(c);
  }
  const uint64_t types = bytes.size();
  add(int32_t{1});
  add(int32_t{3});
  Json values;
  values.set("tokenizer.ggml.model", "gpt2");
  GgufFile file{TensorFile(),
                GgufMetadata(memory_source("m.gguf", bytes), values,
                             {{"tokenizer.ggml.tokens", GgufType::kString, 2, 0},
                              {"tokenizer.ggml.token_type", GgufType::kI32, 2, types}})};
  const auto files = gguf_text_files(file);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(files->description.generation_config->find("eos_token_id")->dump(), "[1]");
}

std::string end_ids(Json values) {
  values.set("tokenizer.ggml.model", "gpt2").set("tokenizer.ggml.tokens", Json::Array{});
  std::vector<std::byte> tokens;
  for (int i = 0; i < 8; ++i) {
    tokens.insert(tokens.end(), {std::byte{1}, {}, {}, {}, {}, {}, {}, {}, std::byte('a')});
  }
  GgufFile file{TensorFile(), GgufMetadata(memory_source("m.gguf", tokens), std::move(values),
                                           {{"tokenizer.ggml.tokens", GgufType::kString, 8, 0}})};
  const auto files = gguf_text_files(file);
  if (!files) return files.error().message;
  const Json config = *files->description.generation_config;
  const Json* ids = config.find("eos_token_id");
  return (ids == nullptr ? "none" : ids->dump()) + fmt::format(" {}", files->notices.size());
}

/// ids, then how many notices.
TEST(GgufFiles, ReadEndsHoweverTheyAreStored) {
  const auto eos = [](Json value) {
    Json values;
    values.set("tokenizer.ggml.eos_token_id", std::move(value));
    return end_ids(std::move(values));
  };
  EXPECT_EQ(eos(3), "[3] 0");
  EXPECT_EQ(eos(3.0), "[3] 0");
  EXPECT_EQ(eos(Json::Array{3, 1}), "[3, 1] 0");
  EXPECT_EQ(eos(-1), "none 0");
  EXPECT_EQ(eos(UINT32_MAX), "none 0");
  EXPECT_EQ(eos(8), "none 1");
  EXPECT_EQ(eos("3"), "m.gguf: tokenizer.ggml.eos_token_id is \"3\", expected a token id.");
  EXPECT_EQ(eos(true), "m.gguf: tokenizer.ggml.eos_token_id is true, expected a token id.");
  EXPECT_EQ(eos(0.5), "m.gguf: tokenizer.ggml.eos_token_id is 0.5, expected a token id.");
  EXPECT_EQ(eos(std::nan("")).find("m.gguf: tokenizer.ggml.eos_token_id is "), 0u);
  Json values;
  values.set("tokenizer.ggml.eos_token_id", 1).set("tokenizer.ggml.eom_token_id", 5);
  values.set("tokenizer.ggml.eos_token_ids", Json::Array{1, 2, 4});
  EXPECT_EQ(end_ids(std::move(values)), "[1, 5, 2, 4] 0");
}

TEST(GgufFiles, ReportHowToPool) {
  const auto pooling = [](Json type) {
    Json values;
    values.set("general.architecture", "qwen3").set("qwen3.pooling_type", std::move(type));
    const auto files = gguf_text_files(file_of(std::move(values)));
    return files ? files->description.pooling : files.error().message;
  };
  EXPECT_EQ(pooling(0), "");
  EXPECT_EQ(pooling(-1), "");
  EXPECT_EQ(pooling(UINT32_MAX), "");
  EXPECT_EQ(pooling(1), "mean");
  EXPECT_EQ(pooling(2), "cls");
  EXPECT_EQ(pooling(3), "last");
  EXPECT_EQ(pooling(4), "rank");
  EXPECT_NE(pooling(5).find("qwen3.pooling_type is 5"), std::string::npos);
  EXPECT_EQ(gguf_text_files(file_of(Json(Json::Object{})))->description.pooling, "");
}

TEST(GgufFiles, KeepTheBytesOfTemplates) {
  Json values;
  values.set("tokenizer.chat_template", "\uFFFD").set("tokenizer.chat_template.b", "plain");
  const GgufFile file{TensorFile(), GgufMetadata(memory_source("m.gguf", {}), std::move(values), {},
                                                 {{"tokenizer.chat_template", "\xE6\x97"}})};
  const auto files = gguf_text_files(file);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(files->more_templates[0].second, "plain");
  Json variables;
  variables.set("messages", Json::Array{});
  const auto rendered = render_chat(*files, variables);
  ASSERT_FALSE(rendered);
  EXPECT_NE(rendered.error().message.find("not valid UTF-8"), std::string::npos);
}

TEST(GgufFiles, HaveChatTemplatesByName) {
  Json values;
  values.set("tokenizer.chat_template_note", "not a template");
  values.set("tokenizer.chat_template", "{{ messages[0].content }}!");
  values.set("tokenizer.chat_template.tool_use", "tools");
  values.set("tokenizer.chat_templates", Json::Array{"tool_use"});
  const auto files = gguf_text_files(file_of(std::move(values)));
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->more_templates.size(), 1u);
  EXPECT_EQ(files->more_templates[0].first, "tool_use");
  Json message, variables;
  message.set("role", "user").set("content", "Hello");
  variables.set("messages", Json::Array{message});
  EXPECT_EQ(*render_chat(*files, variables), "Hello!");
  const auto tokenizer = make_tokenizer(*files);
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error().message, "m.gguf has no tokenizer.ggml.model.");
}

TEST(GgufFiles, RecommendSampling) {
  Json values;
  values.set("general.sampling.temp", 0.5).set("general.sampling.top_k", 20);
  const auto files = gguf_text_files(file_of(std::move(values)));
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(files->description.generation_config->dump(),
            R"({"temperature": 0.5, "top_k": 20, "do_sample": true})");
  Json all;
  all.set("general.sampling.temp", 0.5).set("general.sampling.top_k", -1);
  all.set("general.sampling.min_p", 0.25);
  EXPECT_EQ(gguf_text_files(file_of(std::move(all)))->description.generation_config->dump(),
            R"({"temperature": 0.5, "min_p": 0.25, "do_sample": true})");
  EXPECT_EQ(gguf_text_files(file_of(Json(Json::Object{})))->description.generation_config->dump(),
            R"({"do_sample": false})");
}

TEST(GgufFiles, DescribeTheModelAsAFolderDoes) {
  const auto file = open_gguf(kGemma);
  ASSERT_TRUE(file) << file.error().message;
  const auto files = gguf_model_files(*file);
  ASSERT_TRUE(files) << files.error().message;
  const ModelDescription& description = files->description;
  EXPECT_EQ(description.reader().where(), "metadata as config.json");
  EXPECT_EQ(*description.config.find("model_type"), Json("gemma3_text"));
  ASSERT_TRUE(description.generation_config);
  EXPECT_EQ(*description.generation_config->find("do_sample"), Json(false));
  EXPECT_FALSE(description.quantize_config || description.hints || description.encoder);
  EXPECT_EQ(description.pooling, "");
}

TEST(GgufFiles, RefuseAVocabularyOfTheWrongKind) {
  Json values;
  values.set("tokenizer.ggml.model", "llama").set("tokenizer.ggml.tokens", 3);
  EXPECT_EQ(gguf_text_files(file_of(std::move(values))).error().message,
            "m.gguf: tokenizer.ggml.tokens is an integer, expected an array of strings.");
  Json wrong;
  wrong.set("tokenizer.ggml.model", "llama").set("tokenizer.ggml.bos_token_id", -2);
  EXPECT_NE(gguf_text_files(file_of(std::move(wrong))).error().message.find("bos_token_id is -2"),
            std::string::npos);
}

}  // namespace
}  // namespace tokamak
