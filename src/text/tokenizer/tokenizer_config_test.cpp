// The effect of the files beside tokenizer.json. Expected is what transformers does with them.
#include "text/tokenizer/tokenizer_config.h"

#include <gtest/gtest.h>

#include "text/tokenizer/tokenizer.h"

namespace tokamak {
namespace {

using Ids = std::vector<uint32_t>;

/// Letters are words; <s> is 3, </s> is 4, and each text has a 4 at its end.
constexpr std::string_view kFile = R"({
  "added_tokens": [{"id": 3, "content": "<s>", "special": true},
                   {"id": 4, "content": "</s>", "special": true}],
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "<t>": 5, "\u0120": 6},
            "merges": ["a b"]},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "</s>"}}],
    "special_tokens": {"</s>": {"ids": [4]}}}})";

std::string with_roles(std::string_view members) {
  return fmt::format(R"({{"bos_token": "<s>", "eos_token": {{"content": "</s>"}}{}}})", members);
}

Result<Tokenizer> open(std::string_view members) {
  const std::string config = with_roles(members);
  return Tokenizer::from_json(kFile, config);
}

struct FlagRow {
  std::string_view members;
  Ids ids;  // of "a"
};

TEST(TokenizerConfig, ReportsWhichTokensSurroundAText) {
  const FlagRow rows[] = {
      {"", {0, 4}},
      {R"(, "tokenizer_class": "LlamaTokenizer")", {0, 4}},
      {R"(, "add_bos_token": true)", {3, 0}},
      {R"(, "add_bos_token": true, "tokenizer_class": "LlamaTokenizerFast")", {3, 0}},
      {R"(, "add_bos_token": true, "tokenizer_class": "GemmaTokenizer")", {3, 0}},
      {R"(, "add_bos_token": false, "add_eos_token": false)", {0}},
      {R"(, "add_bos_token": null, "add_eos_token": true)", {0, 4}},
      {R"(, "add_eos_token": true, "tokenizer_class": "LlamaTokenizer")", {3, 0, 4}},
      // The flags of these classes have no say beside a tokenizer.json.
      {R"(, "add_bos_token": false, "tokenizer_class": "Qwen2Tokenizer")", {0, 4}},
      {R"(, "add_bos_token": true, "tokenizer_class": "PreTrainedTokenizerFast")", {0, 4}},
  };
  for (const FlagRow& row : rows) {
    const auto tokenizer = open(row.members);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(tokenizer->encode("a"), row.ids) << row.members;
    EXPECT_EQ(tokenizer->encode("<s>a", {.add_special = false}), (Ids{3, 0})) << row.members;
  }
}

TEST(TokenizerConfig, AddsNoTokenThatHasNoRole) {
  const auto tokenizer = Tokenizer::from_json(kFile, R"({"add_bos_token": true})");
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->encode("a"), Ids{0});
}

TEST(TokenizerConfig, RefusesWrongFlags) {
  EXPECT_EQ(open(R"(, "add_bos_token": 1)").error().message,
            "tokenizer.json: \"add_bos_token\" is an integer; a boolean is expected.");
  EXPECT_EQ(
      Tokenizer::from_json(kFile, R"({"bos_token": "<x>", "add_bos_token": true})").error().message,
      "tokenizer.json: \"add_bos_token\" is true, but its token \"<x>\" is not in the vocabulary.");
}

TEST(TokenizerConfig, SplitsSpecialTokensWhereTheConfigDoes) {
  const auto tokenizer = open(R"(, "split_special_tokens": true)");
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->encode("<s>a", {.add_special = false}), Ids{0});
  EXPECT_EQ(tokenizer->encode("<s>a", {.add_special = false, .parse_special = true}), (Ids{3, 0}));
}

TEST(TokenizerConfig, RecognizesEverySpecialTokenByItsName) {
  const auto tokenizer = open(R"(, "extra_special_tokens": {"image_token": "<t>"})");
  ASSERT_TRUE(tokenizer);
  EXPECT_TRUE(tokenizer->is_special(5));
  EXPECT_EQ(tokenizer->role_token("image_token"), "<t>");
  EXPECT_TRUE(open(R"(, "extra_special_tokens": ["<t>"])")->is_special(5));
  EXPECT_TRUE(open(R"(, "additional_special_tokens": ["<t>"])")->is_special(5));
  EXPECT_TRUE(open(R"(, "audio_token": "<t>")")->is_special(5));
}

TEST(TokenizerConfig, TakesTheBlankBeforeATextFromTheConfig) {
  const std::string file =
      std::string(kFile.substr(0, kFile.size() - 1)) +
      R"(, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}})";
  const auto encode = [&](std::string_view config) {
    return Tokenizer::from_json(file, config)->encode("a", {.add_special = false});
  };
  EXPECT_EQ(encode("{}"), Ids{0});
  EXPECT_EQ(encode(R"({"add_prefix_space": true})"), (Ids{6, 0}));
}

TEST(TokenizerConfig, TakesTheNormalizerOfBertFromTheConfig) {
  const std::string file = std::string(kFile.substr(0, kFile.size() - 1)) +
                           R"(, "normalizer": {"type": "BertNormalizer", "lowercase": false}})";
  const auto encode = [&](std::string_view config) {
    return Tokenizer::from_json(file, config)->encode("AB", {.add_special = false});
  };
  EXPECT_EQ(encode("{}"), Ids{});
  EXPECT_EQ(encode(R"({"do_lower_case": true})"), Ids{2});
}

TEST(TokenizerConfig, ReadsSpecialTokensMapWithoutDecoderOnly) {
  constexpr std::string_view kMap =
      R"({"bos_token": {"content": "</s>"}, "additional_special_tokens": ["<t>"]})";
  constexpr std::string_view kOwn = R"({"bos_token": "<s>", "additional_special_tokens": ["ab"]})";
  const auto merged =
      Tokenizer::from_files({.tokenizer = kFile, .config = kOwn, .special_tokens = kMap});
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->role_token("bos_token"), "</s>");
  EXPECT_TRUE(merged->is_special(2));
  EXPECT_TRUE(merged->is_special(5));
  const auto own = Tokenizer::from_files(
      {.tokenizer = kFile,
       .config = R"({"bos_token": "<s>", "added_tokens_decoder": {"3": {"content": "<s>"}}})",
       .special_tokens = kMap});
  ASSERT_TRUE(own);
  EXPECT_EQ(own->role_token("bos_token"), "<s>");
  EXPECT_FALSE(own->is_special(5));
}

TEST(TokenizerConfig, ReadsAddedTokensWithoutDecoderOnly) {
  constexpr std::string_view kAdded = R"({"<s>": 3, "<t>": 5, "<u>": 7, "<v>": 8, "<w>": 3})";
  const auto tokenizer = Tokenizer::from_files(
      {.tokenizer = kFile, .config = R"({"pad_token": "<u>"})", .added_tokens = kAdded});
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("<t>a<u><v>", {.add_special = false}), (Ids{5, 0, 7, 8}));
  EXPECT_TRUE(tokenizer->is_special(3));
  EXPECT_TRUE(tokenizer->is_special(7));
  EXPECT_FALSE(tokenizer->is_special(8));
  EXPECT_EQ(tokenizer->token_to_id("<w>"), std::nullopt);  // its id belongs to another
  const auto own = Tokenizer::from_files(
      {.tokenizer = kFile, .config = R"({"added_tokens_decoder": {}})", .added_tokens = kAdded});
  ASSERT_TRUE(own);
  EXPECT_EQ(own->token_to_id("<u>"), std::nullopt);
}

TEST(TokenizerConfig, NamesTheFileThatIsWrong) {
  const auto message = [](const TokenizerFiles& files) {
    return Tokenizer::from_files(files).error().message;
  };
  EXPECT_EQ(message({.tokenizer = kFile, .special_tokens = "[]"}),
            "special_tokens_map.json: The file is an array; an object is expected.");
  EXPECT_EQ(message({.tokenizer = kFile, .added_tokens = "1"}),
            "added_tokens.json: The file is an integer; an object is expected.");
  EXPECT_EQ(message({.tokenizer = kFile, .added_tokens = R"({"<u>": -1})"}),
            "tokenizer.json: added_tokens.json: The id of token \"<u>\" is -1; a number from 0 to "
            "4294967294 is expected.");
}

}  // namespace
}  // namespace tokamak
