#include "text/tokenizer/added_tokens.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// The parts of `text`, with "|" between them and tokens in [ ].
std::string parts_of(std::vector<AddedToken> tokens, std::string_view text,
                     bool parse_special = true) {
  uint32_t id = 0;
  for (AddedToken& token : tokens) token.id = id++;
  const auto added = AddedTokens::build(std::move(tokens), Normalizer());
  if (!added) return added.error().message;
  std::string joined;
  for (const auto& part : added->split(text, AddedTokens::Stage::kRawText, parse_special)) {
    if (!joined.empty()) joined += '|';
    const std::string_view piece = text.substr(part.begin, part.end - part.begin);
    joined += part.id ? fmt::format("[{}]", piece) : std::string(piece);
  }
  return joined;
}

TEST(AddedTokens, LeaveATextWithoutThemWhole) {
  EXPECT_EQ(parts_of({}, "abc"), "abc");
  EXPECT_EQ(parts_of({{.content = "<s>"}}, "a<s"), "a<s");
  EXPECT_EQ(parts_of({{.content = "<s>"}}, ""), "");
}

TEST(AddedTokens, TakeTheLongestAtTheLeftmostPlace) {
  EXPECT_EQ(parts_of({{.content = "ab"}, {.content = "abc"}, {.content = "bcd"}}, "xabcdab"),
            "x|[abc]|d|[ab]");
}

TEST(AddedTokens, TakeBlanksWhenTheyStrip) {
  EXPECT_EQ(parts_of({{.content = "T", .lstrip = true}}, "a \n T b"), "a|[ \n T]| b");
  EXPECT_EQ(parts_of({{.content = "T", .rstrip = true}}, "a T\u3000 b"), "a |[T\u3000 ]|b");
  EXPECT_EQ(parts_of({{.content = "T", .lstrip = true, .rstrip = true}}, "T T"), "[T ]|[T]");
}

TEST(AddedTokens, StandAloneWhenTheyAreSingleWords) {
  const std::vector<AddedToken> tokens = {{.content = "ok", .single_word = true}};
  EXPECT_EQ(parts_of(tokens, "ok. oko \u00e9ok _ok"), "[ok]|. oko \u00e9ok _ok");
}

TEST(AddedTokens, AreTextWhenSpecialOnesAreNotParsed) {
  const std::vector<AddedToken> tokens = {{.content = "<s>", .special = true}, {.content = "T"}};
  EXPECT_EQ(parts_of(tokens, "<s>T", true), "[<s>]|[T]");
  EXPECT_EQ(parts_of(tokens, "<s>T", false), "<s>|[T]");
}

TEST(AddedTokens, NormalizedOnesAreFoundInNormalizedText) {
  const auto lower = Normalizer::from_json(*Json::parse(R"({"type": "Lowercase"})"));
  const auto added = AddedTokens::build({{.id = 3, .content = "ABC", .normalized = true}}, *lower);
  ASSERT_TRUE(added);
  EXPECT_FALSE(added->split("ABC", AddedTokens::Stage::kRawText, true)[0].id);
  EXPECT_EQ(added->split("abc", AddedTokens::Stage::kNormalizedText, true)[0].id, 3u);
}

TEST(AddedTokens, RefuseAnIdOfTwoTokens) {
  const auto added = AddedTokens::build({{.id = 7, .content = "a"}, {.id = 7, .content = "b"}}, {});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message, "The added tokens \"a\" and \"b\" both have id 7.");
}

TEST(AddedTokens, RefuseAnEndlessOne) {
  const Json json(Json::Object{{"id", Json(0)}, {"content", Json(std::string(2000, 'x'))}});
  EXPECT_EQ(read_added_token(json).error().message,
            "An added token has 2000 bytes; at most 1024 are supported.");
}

}  // namespace
}  // namespace tokamak
