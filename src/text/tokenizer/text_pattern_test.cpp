#include "text/tokenizer/text_pattern.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// The pieces of `text` cut at every run of '-', with "|" between them.
std::string pieces_of(std::string_view text, SplitBehavior behavior, bool invert = false) {
  std::vector<TextRange> matches;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '-') matches.push_back({i, i + 1});
  }
  std::vector<TextRange> pieces;
  cut(text.size(), matches, behavior, invert, pieces);
  std::string joined;
  for (const TextRange& piece : pieces) {
    if (!joined.empty()) joined += '|';
    joined += text.substr(piece.begin, piece.end - piece.begin);
  }
  return joined;
}

// The expectations are those of the documentation of tokenizers' SplitDelimiterBehavior.
TEST(Cut, KeepsRemovesOrMergesMatches) {
  const std::string_view text = "the-final--countdown";
  EXPECT_EQ(pieces_of(text, SplitBehavior::kRemoved), "the|final|countdown");
  EXPECT_EQ(pieces_of(text, SplitBehavior::kIsolated), "the|-|final|-|-|countdown");
  EXPECT_EQ(pieces_of(text, SplitBehavior::kMergedWithPrevious), "the-|final-|-|countdown");
  EXPECT_EQ(pieces_of(text, SplitBehavior::kMergedWithNext), "the|-final|-|-countdown");
  EXPECT_EQ(pieces_of(text, SplitBehavior::kContiguous), "the|-|final|--|countdown");
}

TEST(Cut, HandlesMatchesAtBothEnds) {
  const std::string_view text = "-a-";
  EXPECT_EQ(pieces_of(text, SplitBehavior::kRemoved), "a");
  EXPECT_EQ(pieces_of(text, SplitBehavior::kMergedWithPrevious), "-|a-");
  EXPECT_EQ(pieces_of(text, SplitBehavior::kMergedWithNext), "-a|-");
  EXPECT_EQ(pieces_of(text, SplitBehavior::kContiguous), "-|a|-");
}

TEST(Cut, InvertedTakesWhatIsBetween) {
  EXPECT_EQ(pieces_of("a--b", SplitBehavior::kRemoved, true), "-|-");
  EXPECT_EQ(pieces_of("a--b", SplitBehavior::kMergedWithPrevious, true), "a|-|-b");
}

TEST(Cut, LeavesATextWithoutMatchesWhole) {
  EXPECT_EQ(pieces_of("abc", SplitBehavior::kIsolated), "abc");
  EXPECT_EQ(pieces_of("", SplitBehavior::kIsolated), "");
}

TEST(TextPattern, TakesStringsLiterally) {
  const auto json = Json::parse(R"({"String": "."})");
  const auto pattern = TextPattern::from_json(*json);
  ASSERT_TRUE(pattern);
  EXPECT_EQ(*pattern->replace("a.b..", "$0"), "a$0b$0$0");
}

TEST(TextPattern, ReplacesByRegex) {
  const auto json = Json::parse(R"({"Regex": " {2,}"})");
  const auto pattern = TextPattern::from_json(*json);
  ASSERT_TRUE(pattern);
  EXPECT_EQ(*pattern->replace("a b   c", "_"), "a b_c");
}

TEST(TextPattern, RefusesOtherForms) {
  EXPECT_EQ(TextPattern::from_json(*Json::parse(R"({"Glob": "*"})")).error().message,
            "The pattern has neither \"String\" nor \"Regex\".");
  EXPECT_EQ(TextPattern::from_json(*Json::parse(R"({"String": ""})")).error().message,
            "The pattern \"String\" is empty.");
}

}  // namespace
}  // namespace tokamak
