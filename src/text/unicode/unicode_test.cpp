#include "text/unicode/unicode.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(CharClasses, FollowTheUnicodeProperties) {
  EXPECT_TRUE(is_whitespace(U'\u3000'));
  EXPECT_TRUE(is_whitespace(0x85));
  EXPECT_FALSE(is_whitespace(0x180E));  // a format character since Unicode 6.3
  EXPECT_FALSE(is_whitespace(0x200B));
  EXPECT_TRUE(is_word(U'_'));
  EXPECT_TRUE(is_word(0x0301));  // a mark
  EXPECT_TRUE(is_word(0x24B6));  // a circled letter
  EXPECT_FALSE(is_word(U'-'));
  EXPECT_FALSE(is_word(0x00B2));  // superscript two is No
  EXPECT_TRUE(is_numeric(0x00B2));
  EXPECT_TRUE(is_punctuation(U'$'));  // a symbol in Unicode, punctuation in ASCII
  EXPECT_TRUE(is_punctuation(0x3002));
  EXPECT_FALSE(is_punctuation(0x20AC));
  EXPECT_TRUE(is_nonspacing_mark(0x0301));
  EXPECT_FALSE(is_nonspacing_mark(0x0903));  // Mc
  EXPECT_TRUE(is_combining_mark(0x0903));
}

TEST(LowerCase, MapsBytesThatAreNotUtf8) {
  EXPECT_EQ(to_lower("PHI\xE6\x97"), "phi\uFFFD");
  EXPECT_EQ(to_lower("\xFF\xFE"), "\uFFFD\uFFFD");
  EXPECT_EQ(to_normal_form("e\xCC", NormalForm::kNfc), "e\uFFFD");
}

TEST(LowerCase, MapsCharacterByCharacter) {
  EXPECT_EQ(to_lower("\u00c4BC \u03a3"), "\u00e4bc \u03c3");
  EXPECT_EQ(to_lower("\u0130"), "i\u0307");
}

TEST(NormalForms, ComposeAndDecompose) {
  EXPECT_EQ(to_normal_form("xe\u0301y", NormalForm::kNfc), "x\u00e9y");
  EXPECT_EQ(to_normal_form("x\u00e9y", NormalForm::kNfd), "xe\u0301y");
  EXPECT_EQ(to_normal_form("\ufb01\u00b2", NormalForm::kNfc), "\ufb01\u00b2");
  EXPECT_EQ(to_normal_form("\ufb01\u00b2", NormalForm::kNfkc), "fi2");
  EXPECT_EQ(to_normal_form("\ufb01\u00e9", NormalForm::kNfkd), "fie\u0301");
  EXPECT_EQ(to_normal_form("\u1100\u1161\u11a8", NormalForm::kNfc), "\uac01");
}

TEST(NormalForms, OrderMarksByTheirClass) {
  EXPECT_EQ(to_normal_form("a\u0301\u0316", NormalForm::kNfd), "a\u0316\u0301");
  EXPECT_EQ(to_normal_form("a\u0301\u0316", NormalForm::kNfc), "\u00e1\u0316");
}

TEST(NormalForms, TakeAMillionMarksInARow) {
  std::string text = "a";
  for (int i = 0; i < 500'000; ++i) text += i % 2 == 0 ? "\u0301" : "\u0316";
  const std::string sorted = to_normal_form(text, NormalForm::kNfd);
  EXPECT_EQ(sorted.size(), text.size());
  EXPECT_EQ(sorted.substr(0, 5), "a\u0316\u0316");
  EXPECT_TRUE(sorted.ends_with("\u0301\u0301"));
}

}  // namespace
}  // namespace tokamak
