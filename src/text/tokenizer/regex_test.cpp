#include "text/tokenizer/regex.h"

#include <gtest/gtest.h>

#include "text/tokenizer/regex_matches_test.h"

namespace tokamak {
namespace {

TEST(Regex, FindsAllMatchesFromLeftToRight) {
  EXPECT_EQ(matches_of("a+|b", "aab-ba"), "aa|b|b|a");
  EXPECT_EQ(matches_of("x", "abc"), "");
}

TEST(Regex, RecognizesUnicodeProperties) {
  EXPECT_EQ(matches_of("\\p{L}+", "na\u00efve \u65e5\u672c 12"), "na\u00efve|\u65e5\u672c");
  EXPECT_EQ(matches_of("\\p{N}", "1\u0663\u00b2"), "1|\u0663|\u00b2");
  EXPECT_EQ(matches_of("\\d+", "1\u0663\u00b2"), "1\u0663");
  EXPECT_EQ(matches_of("(?i:'s)", "'S'\u017f"), "'S|'\u017f");
}

TEST(Regex, TakesBlanksAndWordsAsOnigurumaDoes) {
  EXPECT_EQ(matches_of("\\s+", "a\u3000b\u180ec\u0085"), "\u3000|\u0085");
  EXPECT_EQ(matches_of("[^\\s]+", "a\u3000b\u180ec"), "a|b\u180ec");
  EXPECT_EQ(matches_of("\\w+", "e\u0301_1\u00b2\u2460-x"), "e\u0301_1\u00b2|x");
  EXPECT_EQ(matches_of("\\W", "\u00bd\u2460"), "\u2460");
  EXPECT_EQ(matches_of("[\\w-]+", "e\u0301-1\u00b2"), "e\u0301-1");
  EXPECT_EQ(matches_of("\\h+", "\t0aFg"), "0aF");
}

TEST(Regex, TakesAScriptForItsOwnCharacters) {
  EXPECT_EQ(matches_of("\\p{Han}+", "\u65e5\u3001\u672c"), "\u65e5|\u672c");
  EXPECT_EQ(matches_of("[a\\p{Hiragana}]+", "\u3042a\u30fc"), "\u3042a");
  EXPECT_EQ(matches_of("\\P{Han}", "\u65e5\u3001"), "\u3001");
  EXPECT_EQ(matches_of("\\p{^Han}", "\u65e5\u3001"), "\u3001");
  EXPECT_EQ(matches_of("\\\\p{2}", "\\pp"), "\\pp");  // no property
}

TEST(Regex, FindsTheBoundsOfWordsAsOnigurumaDoes) {
  EXPECT_EQ(matches_of("\\b.", "a\u0301b \u2460"), "a| ");
  EXPECT_EQ(matches_of(".\\b", "a\u0301b \u2460"), "b");
  EXPECT_EQ(matches_of("\\B.", "a\u0301b\u2460"), "\u0301|b");
  EXPECT_EQ(matches_of("[\\b]", "a\b"), "\b");
}

TEST(Regex, ReadsOptionsAsRubyDoes) {
  EXPECT_EQ(matches_of("(?m:a.)b", "a\nb"), "a\nb");
  EXPECT_EQ(matches_of("(?m:a(?-m:.))b", "a\nb"), "");
  EXPECT_EQ(matches_of("(?i)a|b", "AB"), "A|B");
  EXPECT_EQ(matches_of("\\v", "\n\v"), "\v");
  EXPECT_EQ(matches_of("a{,2}b", "aab"), "aab");
  EXPECT_EQ(matches_of("a(?i)b|c", "aB aC AB"), "aB|aC");
}

TEST(Regex, LooksAhead) {
  EXPECT_EQ(matches_of("\\s+(?!\\S)|\\s+", "a   b  "), "  | |  ");
}

TEST(Regex, AnchorsAtLines) {
  EXPECT_EQ(matches_of("^a|b$", "ab\nab"), "a|b|a|b");
}

TEST(Regex, StepsOverEmptyMatches) {
  auto regex = Regex::compile("b*");
  ASSERT_TRUE(regex);
  std::vector<TextRange> matches;
  ASSERT_TRUE(regex->find_all("\u00e9bb", matches));
  EXPECT_EQ(matches, (std::vector<TextRange>{{0, 0}, {2, 4}}));
}

TEST(Regex, RefusesWhatTheEngineCannotDo) {
  EXPECT_EQ(
      matches_of("(?<=a+)b", ""),
      "The regular expression \"(?<=a+)b\" is not supported: lookbehind assertion is not fixed "
      "length.");
}

TEST(Regex, RefusesAnEnormousPattern) {
  EXPECT_EQ(matches_of(std::string(70'000, 'a'), ""),
            "A regular expression has 70000 bytes; at most 65536 are supported.");
}

TEST(Regex, GivesUpOnEndlessBacktracking) {
  EXPECT_EQ(
      matches_of("(a|a)*b", std::string(40, 'a') + "cb"),
      "The regular expression \"(a|a)*b\" needs too many steps on a text of 42 bytes: the limit "
      "is 1000 for each byte and 100000 more.");
}

// Each of these matches needs some 16 000 steps: few are within the limit, many are not.
TEST(Regex, LimitsTheStepsOfATextAndNotOfAMatch) {
  const std::string word = std::string(12, 'a') + "c";
  EXPECT_EQ(matches_of("(?:a|a)*b|c", word), "c");
  std::string words;
  for (size_t i = 0; i < 200; ++i) words += word;
  EXPECT_NE(matches_of("(?:a|a)*b|c", words).find("needs too many steps"), std::string::npos);
}

TEST(Regex, TakesALongWordThatNeedsMuchStack) {
  const std::string word(100'000, 'a');
  EXPECT_TRUE(matches_of("(?:a|b)+", word) == word);  // longer than the compiled code has stack for
}

}  // namespace
}  // namespace tokamak
