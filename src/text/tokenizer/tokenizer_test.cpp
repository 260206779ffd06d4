#include "text/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// A file with the members every file has, and `more` after them.
std::string file_with(std::string_view more, std::string_view vocab = R"("a": 0, "b": 1, "ab": 2)",
                      std::string_view merges = R"("a b")") {
  return fmt::format(R"({{"model": {{"type": "BPE", "vocab": {{{}}}, "merges": [{}]}}{}}})", vocab,
                     merges, more);
}

std::string error_of(std::string_view json, std::string_view config = {}) {
  const auto tokenizer = Tokenizer::from_json(json, config);
  return tokenizer ? "no error" : tokenizer.error().message;
}

ErrorCode code_of(std::string_view json) {
  const auto tokenizer = Tokenizer::from_json(json);
  return tokenizer ? ErrorCode::kUsage : tokenizer.error().code;
}

using Ids = std::vector<uint32_t>;

TEST(Tokenizer, LeavesWhatNobodyReadsInItsConfigAlone) {
  EXPECT_EQ(error_of(file_with(""), R"({"model_max_length": 1000000000000000019884624838656})"),
            "no error");
}

TEST(Tokenizer, EncodesAndDecodes) {
  const auto tokenizer = Tokenizer::from_json(file_with(R"(, "decoder": {"type": "Fuse"})"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("abba"), (Ids{2, 1, 0}));
  EXPECT_EQ(tokenizer->encode(""), Ids{});
  EXPECT_EQ(tokenizer->decode(Ids{2, 1, 0}), "abba");
  EXPECT_EQ(tokenizer->vocab_size(), 3u);
  EXPECT_EQ(tokenizer->token_to_id("ab"), 2u);
  EXPECT_EQ(tokenizer->token_to_id("x"), std::nullopt);
  EXPECT_EQ(tokenizer->token(2), "ab");
  EXPECT_EQ(tokenizer->token(3), std::nullopt);
}

TEST(Tokenizer, DecodesUnknownIdsToNothing) {
  const auto tokenizer = Tokenizer::from_json(file_with(R"(, "decoder": {"type": "Fuse"})"));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->decode(Ids{0, 99, UINT32_MAX, 1}), "ab");
}

TEST(Tokenizer, ReplacesBytesThatAreNotUtf8) {
  const auto tokenizer =
      Tokenizer::from_json(file_with("", "\"a\": 0, \"b\": 1, \"ab\": 2, \"\\ufffd\": 3"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("a\xFF\xE2\x82z"), (Ids{0, 3, 3}));
}

TEST(Tokenizer, AcceptsIdsWithHoles) {
  const auto tokenizer = Tokenizer::from_json(file_with("", R"("a": 10, "b": 5000, "ab": 7)"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("aab"), (Ids{10, 7}));
  EXPECT_EQ(tokenizer->vocab_size(), 5001u);
  EXPECT_EQ(tokenizer->token(0), std::nullopt);
}

TEST(Tokenizer, RecognizesSpecialTokensAndRoles) {
  const auto tokenizer = Tokenizer::from_json(
      file_with(R"(, "added_tokens": [{"id": 3, "content": "<s>", "special": true},
                                      {"id": 4, "content": "<t>", "special": false}])"),
      R"({"bos_token": "<s>", "image_token": {"content": "<t>"}, "pad_token": null})");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_TRUE(tokenizer->is_special(3));
  EXPECT_TRUE(tokenizer->is_special(4));  // by its role
  EXPECT_FALSE(tokenizer->is_special(0));
  EXPECT_EQ(tokenizer->role_id("bos_token"), 3u);
  EXPECT_EQ(tokenizer->role_token("image_token"), "<t>");
  EXPECT_EQ(tokenizer->role_id("pad_token"), std::nullopt);
  EXPECT_EQ(tokenizer->encode("<s>a"), (Ids{3, 0}));
  EXPECT_EQ(tokenizer->encode("<s>a", {.parse_special = false}), Ids{0});
  EXPECT_EQ(tokenizer->decode(Ids{3, 0, 4}, true), "a");
}

TEST(Tokenizer, TakesMissingTokensFromTheConfig) {
  const auto tokenizer = Tokenizer::from_json(
      file_with(R"(, "added_tokens": [{"id": 3, "content": "<s>"}])"),
      R"({"added_tokens_decoder": {"3": {"content": "<other>"}, "4": {"content": "<new>"},
                                   "9": {"content": "ab"}}})");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->token(3), "<s>");
  EXPECT_EQ(tokenizer->token(4), "<new>");
  EXPECT_EQ(tokenizer->token(9), std::nullopt);
  EXPECT_EQ(tokenizer->encode("<new>"), Ids{4});
}

TEST(Tokenizer, MatchesKnownTokensAsTheConfigSays) {
  const std::string file = file_with(
      R"(, "added_tokens": [{"id": 3, "content": "<s>", "special": true, "rstrip": true},
                            {"id": 4, "content": "<t>"}])",
      R"("a": 0, "b": 1, "ab": 2, " ": 5)");
  const auto plain = Tokenizer::from_json(file);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->encode(" <s> b <t> ab"), (Ids{5, 3, 1, 5, 4, 5, 2}));
  const auto tokenizer = Tokenizer::from_json(
      file, R"({"added_tokens_decoder": {"3": {"content": "<s>", "lstrip": true},
                                         "77": {"content": "<t>", "rstrip": true, "special": true},
                                         "78": {"content": "ab", "single_word": true}}})");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode(" <s> b <t> ab"), (Ids{3, 5, 1, 5, 4, 2}));
  EXPECT_TRUE(tokenizer->is_special(3));  // once special, always special
  EXPECT_TRUE(tokenizer->is_special(4));
  EXPECT_EQ(tokenizer->encode("aab"), (Ids{0, 2}));
  EXPECT_EQ(tokenizer->decode(Ids{3, 0, 4, 2}, true), "a ab");
}

TEST(Tokenizer, MakesTokensWithARoleSpecial) {
  const std::string file = file_with(R"(, "added_tokens": [{"id": 3, "content": "<t>"}])",
                                     R"("a": 0, "b": 1, "ab": 2, "<s>": 4, "<c>": 5)");
  const auto tokenizer = Tokenizer::from_json(
      file, R"({"bos_token": "<s>", "eos_token": {"content": "<t>"}, "pad_token": "<pad>",
                "additional_special_tokens": ["<c>"]})");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("<s>a<t><c>"), (Ids{4, 0, 3, 5}));
  EXPECT_EQ(tokenizer->decode(Ids{4, 0, 3, 5}, true), "a");
  EXPECT_EQ(tokenizer->encode("<pad>"), Ids{0});
  EXPECT_EQ(tokenizer->role_id("pad_token"), std::nullopt);
  EXPECT_EQ(Tokenizer::from_json(file)->encode("<s>a"), Ids{0});
}

TEST(Tokenizer, GivesAnAddedTokenTheIdOfTheVocabulary) {
  const auto tokenizer = Tokenizer::from_json(
      file_with(R"(, "added_tokens": [{"id": 3, "content": "ab", "special": true},
                                      {"id": 7, "content": "<s>"},
                                      {"id": 8, "content": "<s>", "special": true}])"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("ab<s>"), (Ids{2, 7}));
  EXPECT_EQ(tokenizer->token(3), std::nullopt);
  EXPECT_TRUE(tokenizer->is_special(2));
  EXPECT_TRUE(tokenizer->is_special(7));
  EXPECT_EQ(tokenizer->token(8), std::nullopt);
}

TEST(Tokenizer, TakesAnAddedTokenForUnknownText) {
  for (const char* type : {R"("BPE", "merges": [])", R"("WordPiece")"}) {
    const auto tokenizer = Tokenizer::from_json(fmt::format(
        R"({{"model": {{"type": {}, "vocab": {{"a": 0}}, "unk_token": "<unk>"}},
             "added_tokens": [{{"id": 1, "content": "<unk>", "special": true}}]}})",
        type));
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(tokenizer->encode("x"), Ids{1});
    EXPECT_EQ(tokenizer->encode("a"), Ids{0});
  }
}

TEST(Tokenizer, WrapsTheTextAsTheTemplateSays) {
  const auto tokenizer = Tokenizer::from_json(file_with(R"(, "post_processor": {"type": "Sequence",
      "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "x"}}, {"Sequence": {"id": "A"}},
                 {"SpecialToken": {"id": "y"}}],
      "special_tokens": {"x": {"ids": [1, 1]}, "y": {"ids": [2]}}}]})"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("a"), (Ids{1, 1, 0, 2}));
  EXPECT_EQ(tokenizer->encode("a", {.add_special = false}), Ids{0});
  const auto pair = Tokenizer::from_json(
      file_with(R"(, "post_processor": {"type": "BertProcessing", "sep": ["b", 1],
                                        "cls": ["ab", 2]})"));
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_EQ(pair->encode("a"), (Ids{2, 0, 1}));
}

TEST(Tokenizer, PutsTwoTextsTogetherAsTheTemplateSays) {
  const auto bert = Tokenizer::from_json(
      file_with(R"(, "post_processor": {"type": "BertProcessing", "sep": ["b", 1],
                                        "cls": ["ab", 2]})"));
  ASSERT_TRUE(bert) << bert.error().message;
  const auto pair = bert->encode_pair("a", "aa");
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_EQ(pair->ids, (Ids{2, 0, 1, 0, 0, 1}));
  EXPECT_EQ(pair->types, (Ids{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(bert->encode_pair("a", "aaaa", 6)->ids, pair->ids) << "the second is cut";
  EXPECT_EQ(bert->encode_pair("aa", "a", 3)->ids, (Ids{2, 0, 0, 1, 1})) << "only the second is";
  const auto roberta = Tokenizer::from_json(
      file_with(R"(, "post_processor": {"type": "RobertaProcessing", "sep": ["b", 1],
                                        "cls": ["ab", 2]})"));
  ASSERT_TRUE(roberta) << roberta.error().message;
  EXPECT_EQ(roberta->encode_pair("a", "a")->ids, (Ids{2, 0, 1, 1, 0, 1}));
  EXPECT_EQ(roberta->encode_pair("a", "a")->types, (Ids{0, 0, 0, 0, 0, 0}));
  const auto other = Tokenizer::from_json(file_with(R"(, "post_processor":
      {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}],
       "pair": [{"SpecialToken": {"id": "x", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}},
                {"Sequence": {"id": "A", "type_id": 0}}],
       "special_tokens": {"x": {"ids": [1]}}})"));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->encode_pair("a", "aa")->ids, (Ids{1, 0, 0, 0}));
  EXPECT_EQ(other->encode_pair("a", "aa")->types, (Ids{0, 1, 1, 0}));
  const auto none = Tokenizer::from_json(file_with(""));
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_EQ(none->encode_pair("a", "a").error().message,
            "The tokenizer's post_processor does not say how two texts go together.");
}

TEST(Tokenizer, NestsOnePostProcessorInTheNext) {
  const auto tokenizer =
      Tokenizer::from_json(file_with(R"(, "post_processor": {"type": "Sequence", "processors": [
                     {"type": "BertProcessing", "sep": ["b", 1], "cls": ["b", 1]},
                     {"type": "BertProcessing", "sep": ["ab", 2], "cls": ["ab", 2]}]})"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("a"), (Ids{2, 1, 0, 1, 2}));
}

TEST(Tokenizer, OnlyTheStartOfTheTextIsTheFirstWord) {
  const auto tokenizer = Tokenizer::from_json(
      file_with(R"(, "added_tokens": [{"id": 3, "content": "<raw>", "normalized": false},
                                      {"id": 4, "content": "<norm>", "normalized": true}],
                   "pre_tokenizer": {"type": "Metaspace", "replacement": "b",
                                     "prepend_scheme": "first"})"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->encode("a"), (Ids{1, 0}));
  EXPECT_EQ(tokenizer->encode("<raw>a"), (Ids{3, 0}));
  EXPECT_EQ(tokenizer->encode("<norm>a"), (Ids{4, 0}));
}

TEST(StreamDecoder, WithholdsACutCharacter) {
  const auto tokenizer = Tokenizer::from_json(file_with(
      R"(, "decoder": {"type": "ByteLevel"})", "\"a\": 0, \"\u00c3\": 1, \"\u00a9\": 2", ""));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  StreamDecoder decoder(*tokenizer);
  EXPECT_EQ(decoder.push(0), "a");
  EXPECT_EQ(decoder.push(1), "");
  EXPECT_EQ(decoder.push(2), "\u00e9");
  EXPECT_EQ(decoder.push(1), "");
  EXPECT_EQ(decoder.push(0), "\uFFFDa");
  EXPECT_EQ(decoder.push(77), "");
  EXPECT_EQ(decoder.push(1), "");
  EXPECT_EQ(decoder.finish(), "\uFFFD");
}

// Hostile files: group 32 of the list of malformed inputs.

TEST(TokenizerFile, RefusesAFileCutInHalf) {
  const std::string whole = file_with("");
  EXPECT_EQ(error_of(whole.substr(0, whole.size() / 2)),
            "tokenizer.json: The JSON text ends too early, at line 1 column 41.");
  EXPECT_EQ(error_of(""), "tokenizer.json: The JSON text is empty.");
  EXPECT_EQ(error_of("[]"), "tokenizer.json: The file is an array; an object is expected.");
  EXPECT_EQ(error_of("{}"), "tokenizer.json: model: The model type \"\" is not supported.");
  EXPECT_EQ(error_of(whole, "{"),
            "tokenizer_config.json: The JSON text ends too early, at line 1 column 2.");
}

TEST(TokenizerFile, RefusesMergesOutsideTheVocabulary) {
  EXPECT_EQ(error_of(file_with("", R"("a": 0)")),
            "tokenizer.json: model: The merge \"a b\" needs the token \"b\", which is not in the "
            "vocabulary.");
}

TEST(TokenizerFile, RefusesTwoTokensWithOneId) {
  EXPECT_EQ(error_of(file_with("", R"("a": 0, "b": 0)", "")),
            "tokenizer.json: model: The tokens \"a\" and \"b\" both have id 0.");
  EXPECT_EQ(error_of(file_with("", R"("a": 0, "a": 1)", "")),
            "tokenizer.json: model: Token \"a\" is in the vocabulary twice, with ids 0 and 1.");
  EXPECT_EQ(error_of(file_with(R"(, "added_tokens": [{"id": 1, "content": "x"}])")),
            "tokenizer.json: added_tokens: The tokens \"b\" and \"x\" both have id 1.");
  EXPECT_EQ(error_of(file_with(R"(, "added_tokens": [{"id": 3, "content": "x"},
                                                     {"id": 3, "content": "y"}])")),
            "tokenizer.json: The added tokens \"x\" and \"y\" both have id 3.");
}

TEST(TokenizerFile, RefusesIdsFarBeyondTheVocabulary) {
  EXPECT_EQ(error_of(file_with("", R"("a": 4000000000)", "")),
            "tokenizer.json: model: Token \"a\" has id 4000000000, far beyond the 1 tokens of the "
            "vocabulary.");
  EXPECT_EQ(error_of(file_with("", R"("a": -1)", "")),
            "tokenizer.json: model: The id of token \"a\" is -1; a number from 0 to 4294967294 is "
            "expected.");
  EXPECT_EQ(error_of(file_with(R"(, "added_tokens": [{"id": 4000000000, "content": "x"}])")),
            "tokenizer.json: added_tokens: Token \"x\" has id 4000000000, far beyond the 3 ids of "
            "the vocabulary.");
}

TEST(TokenizerFile, RefusesARegexThatDoesNotCompile) {
  EXPECT_EQ(
      error_of(file_with(R"(, "pre_tokenizer": {"type": "Split", "behavior": "Isolated",
                                    "pattern": {"Regex": "a(b"}})")),
      "tokenizer.json: pre_tokenizer: The regular expression \"a(b\" has \"(\" without \")\" at "
      "character 2.");
}

TEST(TokenizerFile, NamesUnknownTypes) {
  EXPECT_EQ(error_of(R"({"model": {"type": "WordLevel", "vocab": {}}})"),
            "tokenizer.json: model: The model type \"WordLevel\" is not supported.");
  EXPECT_EQ(code_of(R"({"model": {"type": "WordLevel", "vocab": {}}})"), ErrorCode::kUnsupported);
  for (const auto& [member, what] :
       {std::pair{"normalizer", "normalizer"}, std::pair{"pre_tokenizer", "pre-tokenizer"},
        std::pair{"post_processor", "post-processor"}, std::pair{"decoder", "decoder"}}) {
    const std::string json = file_with(fmt::format(R"(, "{}": {{"type": "Odd"}})", member));
    EXPECT_EQ(error_of(json), fmt::format("tokenizer.json: {}: The {} type \"Odd\" is not "
                                          "supported.",
                                          member, what));
    EXPECT_EQ(code_of(json), ErrorCode::kUnsupported);
  }
}

TEST(TokenizerFile, RefusesATemplateWithIdsOutsideTheVocabulary) {
  EXPECT_EQ(error_of(file_with(R"(, "post_processor": {"type": "BertProcessing",
                                    "sep": ["b", 1], "cls": ["x", 77]})")),
            "tokenizer.json: post_processor: The id 77 is added to every text, but the vocabulary "
            "has no such id.");
  EXPECT_EQ(error_of(file_with(R"(, "post_processor": {"type": "TemplateProcessing",
                                    "single": [{"SpecialToken": {"id": "x"}}],
                                    "special_tokens": {}})")),
            "tokenizer.json: post_processor: The member \"x\" is missing.");
}

TEST(TokenizerFile, RefusesMembersOfAnotherKind) {
  EXPECT_EQ(error_of(R"({"model": 3})"),
            "tokenizer.json: model: The model type \"\" is not supported.");
  EXPECT_EQ(error_of(file_with(R"(, "normalizer": [])")),
            "tokenizer.json: normalizer: The value is an array; an object with \"type\" is "
            "expected.");
  EXPECT_EQ(error_of(file_with(R"(, "added_tokens": {})")),
            "tokenizer.json: added_tokens: The value is an object; an array is expected.");
}

TEST(Tokenizer, ASpecialTokenWithAPlainPlaceInItIsText) {
  const auto tokenizer = Tokenizer::from_json(file_with(
      R"(, "added_tokens": [{"id": 7, "content": "aba", "special": true},
                            {"id": 8, "content": "bb", "special": false}])"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto ids = [&](std::vector<size_t> plain_at) {
    return *tokenizer->encode("abaaba", {.plain_at = plain_at});
  };
  EXPECT_EQ(ids({}), (Ids{7, 7}));
  EXPECT_EQ(ids({0}), (Ids{2, 0, 7}));
  EXPECT_EQ(ids({2}), (Ids{2, 0, 7})) << "the next one may begin after the place";
  EXPECT_EQ(ids({3}), (Ids{7, 2, 0}));
  EXPECT_EQ(*tokenizer->encode("bb", {.plain_at = std::vector<size_t>{0}}), Ids{8})
      << "what is not special is as always";
}

TEST(Tokenizer, RecognizesWhereATextSpellsSpecialTokens) {
  const auto tokenizer = Tokenizer::from_json(file_with(R"(, "normalizer": {"type": "Lowercase"},
          "added_tokens": [{"id": 7, "content": "aba", "special": true, "normalized": false},
                           {"id": 9, "content": "bbb", "special": true, "normalized": true}])"));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  using Places = std::vector<size_t>;
  EXPECT_EQ(tokenizer->special_places("ax"), Places{});
  EXPECT_EQ(tokenizer->special_places("bababa"), (Places{1, 3, 5})) << "the end may become one";
  EXPECT_EQ(tokenizer->special_places("xBbBx"), Places{0}) << "only the normalizer knows where";
  EXPECT_EQ(*tokenizer->encode("xBbBx", {.plain_at = Places{0}}), (Ids{1, 1, 1}));
}

}  // namespace
}  // namespace tokamak
