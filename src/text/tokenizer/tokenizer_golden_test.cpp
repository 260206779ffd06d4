// Every answer of the reference library on thirteen small tokenizers (tests/data/tokenizers).
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>

#include "base/json.h"
#include "text/tokenizer/tokenizer.h"

namespace tokamak {
namespace {

std::string read_file(const std::string& path) {
  std::string text;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  char buffer[65536];
  for (size_t size = 0; (size = std::fread(buffer, 1, sizeof(buffer), file)) > 0;) {
    text.append(buffer, size);
  }
  std::fclose(file);
  return text;
}

std::vector<uint32_t> ids_of(const Json& json) {
  std::vector<uint32_t> ids;
  for (const Json& id : json.as_array()) ids.push_back(uint32_t(id.as_integer()));
  return ids;
}

struct TokenizerGolden : testing::TestWithParam<const char*> {
  void SetUp() override {
    const std::string folder = std::string(TOKAMAK_TEST_DATA) + "/tokenizers/" + GetParam() + "/";
    auto parsed = Json::parse(read_file(folder + "golden.json"));
    ASSERT_TRUE(parsed) << parsed.error().message;
    golden = *std::move(parsed);
    auto opened = Tokenizer::from_json(read_file(folder + "tokenizer.json"),
                                       read_file(folder + "tokenizer_config.json"));
    ASSERT_TRUE(opened) << opened.error().message;
    tokenizer.emplace(*std::move(opened));
  }

  const Json::Array& cases(const char* name) {
    const Json* list = golden.find(name);
    EXPECT_TRUE(list != nullptr && !list->as_array().empty()) << name;
    return list->as_array();
  }

  std::string stream(const std::vector<uint32_t>& ids, bool skip_special) {
    StreamDecoder decoder(*tokenizer, skip_special);
    std::string text;
    for (const uint32_t id : ids) text += decoder.push(id);
    return text + decoder.finish();
  }

  Json golden;
  std::optional<Tokenizer> tokenizer;
};

TEST_P(TokenizerGolden, CountsTheIds) {
  EXPECT_EQ(tokenizer->vocab_size(), uint32_t(golden.find("vocab_size")->as_integer()));
}

TEST_P(TokenizerGolden, EncodesEveryText) {
  for (const Json& item : cases("encode")) {
    const std::string& text = item.find("text")->as_string();
    const Json& with_special = *item.find("ids");
    const Json* without = item.find("ids_no_special");  // left out when it is the same
    SCOPED_TRACE(Json(text).dump());
    auto ids = tokenizer->encode(text);
    ASSERT_TRUE(ids) << ids.error().message;
    EXPECT_EQ(*ids, ids_of(with_special));
    ids = tokenizer->encode(text, {.add_special = false});
    ASSERT_TRUE(ids) << ids.error().message;
    EXPECT_EQ(*ids, ids_of(without == nullptr ? with_special : *without));
  }
}

TEST_P(TokenizerGolden, DecodesEveryEncoding) {
  for (const Json& item : cases("encode")) {
    const auto ids = ids_of(*item.find("ids"));
    SCOPED_TRACE(item.find("ids")->dump());
    EXPECT_EQ(tokenizer->decode(ids), item.find("decoded")->as_string());
    EXPECT_EQ(tokenizer->decode(ids, true), item.find("decoded_skip_special")->as_string());
  }
}

TEST_P(TokenizerGolden, DecodesArbitraryIds) {
  for (const Json& item : cases("decode_random_ids")) {
    const auto ids = ids_of(*item.find("ids"));
    SCOPED_TRACE(item.find("ids")->dump());
    EXPECT_EQ(tokenizer->decode(ids), item.find("decoded")->as_string());
    EXPECT_EQ(tokenizer->decode(ids, true), item.find("decoded_skip_special")->as_string());
    EXPECT_EQ(stream(ids, false), item.find("decoded")->as_string());
  }
}

TEST_P(TokenizerGolden, StreamsWhatItDecodesAtOnce) {
  for (const Json& item : cases("encode")) {
    const auto ids = ids_of(*item.find("ids"));
    SCOPED_TRACE(item.find("ids")->dump());
    EXPECT_EQ(stream(ids, false), item.find("decoded")->as_string());
    EXPECT_EQ(stream(ids, true), item.find("decoded_skip_special")->as_string());
  }
}

TEST_P(TokenizerGolden, DecodesEveryPrefixAndNeverTakesTextBack) {
  for (const Json& item : cases("decode_prefixes")) {
    const auto ids = ids_of(*item.find("ids"));
    const Json::Array& prefixes = item.find("prefix_decodes")->as_array();
    ASSERT_EQ(prefixes.size(), ids.size());
    SCOPED_TRACE(item.find("ids")->dump());
    StreamDecoder decoder(*tokenizer);
    std::string streamed;
    for (size_t count = 1; count <= ids.size(); ++count) {
      const std::string& expected = prefixes[count - 1].as_string();
      EXPECT_EQ(tokenizer->decode(std::span(ids).first(count)), expected);
      streamed += decoder.push(ids[count - 1]);
      EXPECT_TRUE(expected.starts_with(streamed)) << "\"" << streamed << "\"";
    }
    EXPECT_EQ(streamed + decoder.finish(), prefixes.back().as_string());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokenizerGolden,
                         testing::Values("added_tokens", "deepseek", "digits", "gemma_spm", "gpt2",
                                         "llama2_spm", "llama3", "mistral_metaspace", "qwen2",
                                         "qwen3_5", "roberta", "unigram", "wordpiece"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace tokamak
