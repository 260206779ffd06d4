#include "text/tokenizer/decoder.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// The text of `tokens`, or the message of an error. Checks that a token cut into single bytes of
/// pieces, as an earlier step may give it, decodes to the same.
std::string decoded(std::string_view json, const std::vector<std::string>& tokens) {
  auto decoder = Decoder::from_json(*Json::parse(json));
  if (!decoder) return decoder.error().message;
  std::string whole, pieces;
  const TokenSinkPtr at_once = decoder->open(whole);
  const TokenSinkPtr in_pieces = decoder->open(pieces);
  for (const std::string& token : tokens) {
    at_once->piece(token, true);
    in_pieces->piece(token.substr(0, token.size() / 2), false);
    in_pieces->piece(token.substr(token.size() / 2), true);
  }
  at_once->finish();
  in_pieces->finish();
  EXPECT_EQ(pieces, whole);
  return whole;
}

TEST(Decoder, NullJoinsWithSpaces) {
  EXPECT_EQ(decoded("null", {"a", "b"}), "a b");
}

TEST(Decoder, ByteLevelJoinsBytesAcrossTokens) {
  const std::string json = R"({"type": "ByteLevel"})";
  EXPECT_EQ(decoded(json, {"\u0120a", "\u00c3", "\u00a9"}), " a\u00e9");
  EXPECT_EQ(decoded(json, {"\u00c3", "a", "\u00a9"}), "\uFFFDa\uFFFD");
  EXPECT_EQ(decoded(json, {"\u65e5 \u0120"}), "\u65e5 \u0120");  // no byte-level token: as it is
}

TEST(Decoder, ByteFallbackTakesARunOfBytesAsAWhole) {
  const std::string json = R"({"type": "ByteFallback"})";
  EXPECT_EQ(decoded(json, {"a", "<0xC3>", "<0xa9>", "b"}), "a\u00e9b");
  EXPECT_EQ(decoded(json, {"<0xC3>", "<0xA9>", "<0xC3>", "b"}), "\uFFFD\uFFFD\uFFFDb");
  EXPECT_EQ(decoded(json, {"<0xG0>"}), "<0xG0>");
}

TEST(Decoder, StripsEachTokenOrTheFusedText) {
  EXPECT_EQ(decoded(R"({"type": "Strip", "content": "_", "start": 1, "stop": 2})",
                    {"__a___", "___", "_"}),
            "_a_");
  EXPECT_EQ(decoded(R"({"type": "Sequence", "decoders": [{"type": "Fuse"},
                        {"type": "Strip", "content": " ", "start": 1, "stop": 1}]})",
                    {" ", " a ", "b ", " "}),
            " a b ");
}

TEST(Decoder, ReplacesInsideTokens) {
  EXPECT_EQ(
      decoded(R"({"type": "Replace", "pattern": {"String": "_"}, "content": " "})", {"_a", "b_"}),
      " ab ");
}

TEST(Decoder, MetaspaceDropsTheFirstMark) {
  EXPECT_EQ(decoded(R"({"type": "Metaspace", "replacement": "_"})", {"_a", "_b"}), "a b");
  EXPECT_EQ(decoded(R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "never"})",
                    {"_a", "_b"}),
            " a b");
}

TEST(Decoder, WordPieceJoinsAndCleansUp) {
  EXPECT_EQ(decoded(R"({"type": "WordPiece", "prefix": "##", "cleanup": true})",
                    {"play", "##ing", ".", "do", "not"}),
            "playing. do not");
  EXPECT_EQ(decoded(R"({"type": "WordPiece", "prefix": "##", "cleanup": false})", {"a", "."}),
            "a .");
}

TEST(Decoder, SuffixEndsWordsButNotTheText) {
  EXPECT_EQ(decoded(R"({"type": "BPEDecoder", "suffix": "</w>"})", {"a", "b</w>", "c</w>"}),
            "ab c");
}

TEST(Decoder, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(decoded(R"({"type": "CTC"})", {}), "The decoder type \"CTC\" is not supported.");
  EXPECT_EQ(decoded(R"({"type": "Strip", "content": "ab", "start": 1, "stop": 0})", {}),
            "\"content\" is \"ab\"; one character is expected.");
  EXPECT_EQ(decoded(R"({"type": "Strip", "content": "a", "start": -1, "stop": 0})", {}),
            "\"start\" is -1; a number from 0 to 4294967294 is expected.");
}

}  // namespace
}  // namespace tokamak
