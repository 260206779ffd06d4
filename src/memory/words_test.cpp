#include "memory/words.h"

#include <gtest/gtest.h>

namespace tokamak::memory {
namespace {

using Words = std::vector<std::string>;

TEST(DistinctWords, AreInLowerCaseWithoutPunctuation) {
  EXPECT_EQ(distinct_words("The fox, the FOX_den: \u00c9t\u00e9!"),
            (Words{"the", "fox", "den", "\u00e9t\u00e9"}));
  EXPECT_EQ(distinct_words("one two three", 2), (Words{"one", "two"}));
}

TEST(DistinctWords, ArePairsOfCharactersInScriptsWithoutSpaces) {
  EXPECT_EQ(distinct_words("狐狸晚上"), (Words{"狐狸", "狸晚", "晚上"}));
  EXPECT_EQ(distinct_words("猫。"), Words{"猫"});
  EXPECT_EQ(distinct_words("キツネは眠る"), (Words{"キツ", "ツネ", "ネは", "は眠", "眠る"}));
  EXPECT_EQ(distinct_words("여우는 잔다"), (Words{"여우", "우는", "잔다"}));
  EXPECT_EQ(distinct_words("GPU驱动2号"), (Words{"gpu", "驱动", "2", "号"}));
}

TEST(DistinctWords, KeepMarksWithTheirCharacters) {
  EXPECT_EQ(distinct_words("ที่นี่"), Words{"ที่นี่"}) << "two characters of Thai";
  EXPECT_EQ(distinct_words("हिन्दी भाषा"), (Words{"हिन्दी", "भाषा"}));
}

TEST(DistinctWords, AreTheSameInWideAndNarrowForms) {
  EXPECT_EQ(distinct_words("ＡＢＣ １２３ ｷﾂﾈ"), distinct_words("abc 123 キツネ"));
}

TEST(IndexText, HasCharactersOfSuchScriptsBesidePairs) {
  EXPECT_EQ(index_text("red 狐狸 猫"), "red 狐 狸 狐狸 猫 ");
}

}  // namespace
}  // namespace tokamak::memory
