#include "text/tokenizer/normalizer.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// The text that the normalizer `json` makes of `text`, or the message of its error.
std::string normalized(std::string_view json, std::string_view text) {
  auto normalizer = Normalizer::from_json(*Json::parse(json));
  if (!normalizer) return normalizer.error().message;
  auto result = normalizer->apply(std::string(text));
  return result ? *result : result.error().message;
}

TEST(Normalizer, NullChangesNothing) {
  EXPECT_EQ(normalized("null", " e\u0301 "), " e\u0301 ");
}

TEST(Normalizer, RunsASequenceInOrder) {
  const std::string json = R"({"type": "Sequence", "normalizers": [
      {"type": "Prepend", "prepend": "_"},
      {"type": "Replace", "pattern": {"String": " "}, "content": "_"}]})";
  EXPECT_EQ(normalized(json, "a b"), "_a_b");
  EXPECT_EQ(normalized(json, ""), "");  // nothing is put before an empty text
}

TEST(Normalizer, KnowsTheUnicodeForms) {
  EXPECT_EQ(normalized(R"({"type": "NFC"})", "e\u0301"), "\u00e9");
  EXPECT_EQ(normalized(R"({"type": "NFD"})", "\u00e9"), "e\u0301");
  EXPECT_EQ(normalized(R"({"type": "NFKC"})", "\u2460"), "1");
  EXPECT_EQ(normalized(R"({"type": "NFKD"})", "\u2460\u00e9"), "1e\u0301");
}

TEST(Normalizer, StripsTheSidesItIsTold) {
  EXPECT_EQ(
      normalized(R"({"type": "Strip", "strip_left": true, "strip_right": false})", "\u3000 a "),
      "a ");
  EXPECT_EQ(normalized(R"({"type": "Strip", "strip_left": false, "strip_right": true})", " a \n"),
            " a");
}

TEST(Normalizer, LowersAndStripsAccents) {
  EXPECT_EQ(normalized(R"({"type": "Lowercase"})", "\u00c4b"), "\u00e4b");
  EXPECT_EQ(normalized(R"({"type": "StripAccents"})", "e\u0301\u00e9"), "e\u00e9");
}

TEST(Normalizer, SpellsBytes) {
  EXPECT_EQ(normalized(R"({"type": "ByteLevel"})", "a \u00e9"), "a\u0120\u00c3\u00a9");
}

TEST(Normalizer, CleansAsBertDoes) {
  EXPECT_EQ(normalized(R"({"type": "BertNormalizer"})", "\u00c9\tA\u0001\u4e2d\u00a0b"),
            "e a \u4e2d  b");
  EXPECT_EQ(normalized(R"({"type": "BertNormalizer", "lowercase": false})", "\u00c9"), "\u00c9");
  EXPECT_EQ(normalized(R"({"type": "BertNormalizer", "lowercase": false, "strip_accents": true,
                           "clean_text": false, "handle_chinese_chars": false})",
                       "\u00c9\t\u4e2d"),
            "E\t\u4e2d");
}

TEST(Normalizer, RefusesAnUnknownType) {
  EXPECT_EQ(normalized(R"({"type": "Precompiled"})", ""),
            "The normalizer type \"Precompiled\" is not supported.");
  EXPECT_EQ(normalized(R"({"type": 3})", ""), "\"type\" is an integer; a string is expected.");
}

}  // namespace
}  // namespace tokamak
