#include "model/sentence_transformers.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

using Files = std::map<std::string, std::string>;  // texts by name

constexpr const char* kMean =
    R"({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": true})";
constexpr const char* kDense =
    R"({"in_features": 8, "out_features": 4, "bias": false,
        "activation_function": "torch.nn.modules.linear.Identity"})";

/// modules.json with Transformer, Pooling and then `more`, each in a folder "<number>_<type>".
std::string modules(const std::vector<std::string>& more = {}) {
  std::string text = R"([{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
      {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"})";
  for (size_t i = 0; i < more.size(); ++i) {
    text += fmt::format(R"(, {{"path": "{0}_{1}", "type": "sentence_transformers.models.{1}"}})",
                        i + 2, more[i]);
  }
  return text + "]";
}

Result<Encoder> read_files(const Files& files) {
  TOK_TRY(const auto read, read_encoder_files([&](const std::string& file) {
            const auto found = files.find(file);
            return found == files.end() ? "" : found->second;
          }));
  return read_encoder(*read);
}

/// `configs` by the folders of their modules.
Result<Encoder> read(const std::string& modules_json,
                     const Files& configs = {{"1_Pooling", kMean}}) {
  Files files = {{"modules.json", modules_json}};
  for (const auto& [folder, text] : configs) files[folder + "/config.json"] = text;
  return read_files(files);
}

std::string error(const Result<Encoder>& encoder) {
  return encoder ? "" : encoder.error().message;
}

void expect_has(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" lacks " << part;
  }
}

TEST(Encoder, ReadsTheModulesInOrder) {
  const std::string dense_tanh = R"({"in_features": 4, "out_features": 6})";
  const auto encoder = read(modules({"Dense", "Dense", "Normalize"}),
                            {{"1_Pooling", kMean}, {"2_Dense", kDense}, {"3_Dense", dense_tanh}});
  ASSERT_TRUE(encoder) << error(encoder);
  EXPECT_EQ(encoder->head.pooling, Pooling::kMean);
  EXPECT_EQ(encoder->width, 8u);
  EXPECT_TRUE(encoder->normalize);
  ASSERT_EQ(encoder->head.dense.size(), 2u);
  EXPECT_EQ(encoder->head.dense[0].folder, "2_Dense");
  EXPECT_FALSE(encoder->head.dense[0].tanh || encoder->head.dense[0].bias);
  EXPECT_TRUE(encoder->head.dense[1].tanh && encoder->head.dense[1].bias);  // as the reference
  EXPECT_EQ(encoder->dimensions(8), 6u);
}

TEST(Encoder, DoesNotNormalizeWhereNoModuleSaysSo) {
  const auto encoder = read(modules());
  ASSERT_TRUE(encoder) << error(encoder);
  EXPECT_FALSE(encoder->normalize);
  EXPECT_EQ(encoder->dimensions(8), 8u);
}

TEST(Encoder, RecognizesBothSpellingsOfPooling) {
  const auto pooling = [](const char* config) {
    const auto encoder = read(modules(), {{"1_Pooling", config}});
    EXPECT_TRUE(encoder) << error(encoder);
    return encoder ? encoder->head.pooling : Pooling::kMean;
  };
  EXPECT_EQ(pooling(R"({"pooling_mode_mean_tokens": false, "pooling_mode_lasttoken": true})"),
            Pooling::kLast);
  EXPECT_EQ(pooling(R"({"pooling_mode_mean_tokens": false, "pooling_mode_cls_token": true})"),
            Pooling::kFirst);
  EXPECT_EQ(pooling(R"({"embedding_dimension": 8, "pooling_mode": "lasttoken"})"), Pooling::kLast);
  EXPECT_EQ(pooling(R"({"pooling_mode": ["cls"]})"), Pooling::kFirst);
  EXPECT_EQ(pooling("{}"), Pooling::kMean);
}

TEST(Encoder, RefusesOtherPoolingByName) {
  const auto refusal = [](const char* config) {
    return error(read(modules(), {{"1_Pooling", config}}));
  };
  expect_has(refusal(R"({"pooling_mode": "max"})"), {"1_Pooling/config.json", "max", "lasttoken"});
  expect_has(refusal(R"({"pooling_mode_cls_token": true})"), {"cls and mean"});
  expect_has(refusal(R"({"pooling_mode_mean_tokens": false})"), {"no pooling"});
  expect_has(refusal(R"({"include_prompt": false})"), {"include_prompt", "prompt's tokens"});
  expect_has(refusal(R"({"pooling_mode": 7})"), {"pooling_mode", "7"});
}

TEST(Encoder, RefusesModulesItDoesNotKnow) {
  expect_has(error(read(modules({"LayerNorm"}))), {"entry 2", "LayerNorm", "Normalize"});
  expect_has(error(read("{}")), {"modules.json", "an object"});
  expect_has(error(read("[]")), {"modules.json", "0 entries"});
  expect_has(error(read(R"([{"path": "", "type": "sentence_transformers.models.BoW"}])")),
             {"entry 0", "BoW", "Transformer"});
  expect_has(error(read(R"([{"path": "", "type": "my_code.Transformer"}])")), {"my_code"});
  expect_has(
      error(read(modules({"Normalize", "Dense"}), {{"1_Pooling", kMean}, {"3_Dense", kDense}})),
      {"entry 3", "after Normalize"});
  expect_has(error(read(modules(), {})), {"1_Pooling", "no config.json"});
}

TEST(Encoder, StaysInsideTheFolder) {
  for (const char* path : {"..", "../other", "/etc", "a/b", "a\\\\b", "a\\u0000"}) {
    const auto encoder = read(
        fmt::format(R"([{{"path": "{}", "type": "sentence_transformers.models.Dense"}}])", path));
    ASSERT_FALSE(encoder) << path;
    expect_has(encoder.error().message, {"entry 0: path", "name of a folder"});
  }
}

TEST(Encoder, RefusesDenseLayersThatDoNotFit) {
  const auto refusal = [](const char* config) {
    return error(read(modules({"Dense"}), {{"1_Pooling", kMean}, {"2_Dense", config}}));
  };
  expect_has(refusal(R"({"in_features": 9, "out_features": 4})"),
             {"2_Dense/config.json", "in_features", "9", "8"});
  expect_has(refusal(R"({"in_features": 8})"), {"out_features", "missing"});
  expect_has(refusal(R"({"in_features": 8, "out_features": 4,
                         "activation_function": "torch.nn.modules.activation.GELU"})"),
             {"activation_function", "GELU", "Tanh"});
  expect_has(refusal(R"({"in_features": 8, "out_features": 4,
                         "module_input_name": "token_embeddings"})"),
             {"module_input_name", "token_embeddings"});
}

TEST(Encoder, ReadsPromptsAndTheLongestText) {
  Files files = {{"modules.json", modules()}, {"1_Pooling/config.json", kMean}};
  std::string& prompts = files["config_sentence_transformers.json"];
  std::string& transformer = files["sentence_bert_config.json"];
  prompts = R"({"prompts": {"query": "q: ", "document": ""}, "default_prompt_name": "document"})";
  transformer = R"({"max_seq_length": 512, "do_lower_case": true})";
  const auto encoder = read_files(files);
  ASSERT_TRUE(encoder) << error(encoder);
  ASSERT_EQ(encoder->prompts.size(), 2u);
  EXPECT_EQ(encoder->prompts[0], (std::pair<std::string, std::string>("query", "q: ")));
  EXPECT_EQ(encoder->default_prompt, "document");
  EXPECT_EQ(encoder->max_tokens, 512u);
  EXPECT_TRUE(encoder->lower_case);
  prompts = R"({"prompts": {"query": "q: "}, "default_prompt_name": "passage"})";
  expect_has(error(read_files(files)), {"default_prompt_name", "passage"});
  prompts = R"({"prompts": {"query": 3}})";
  expect_has(error(read_files(files)), {"prompts: query", "3"});
  prompts = R"({"prompts": ["query"]})";
  expect_has(error(read_files(files)), {"prompts", "an array"});
  prompts = "";
  transformer = R"({"max_seq_length": -1})";
  expect_has(error(read_files(files)), {"sentence_bert_config.json", "max_seq_length"});
  transformer = R"({"max_seq_length": null, "do_lower_case": false})";
  EXPECT_EQ(read_files(files)->max_tokens, 0u);
  EXPECT_FALSE(read_files(files)->lower_case);
}

}  // namespace
}  // namespace tokamak
