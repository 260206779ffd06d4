#include "text/unicode.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(Utf8, KeepsWhatIsValid) {
  const std::string text = "a\u00e9\u20ac\U0001F600\U0010FFFF";
  EXPECT_TRUE(is_valid_utf8(text));
  EXPECT_EQ(repair_utf8(text), text);
}

TEST(Utf8, ReplacesEachMaximalIllFormedPart) {
  // Table 3-8 and its neighbours of Unicode 15, section 3.9.
  EXPECT_EQ(repair_utf8("a\xF1\x80\x80\xE1\x80\xC2"
                        "b\x80"
                        "c\x80\xBF"
                        "d"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(repair_utf8("\xC0\xAF"), "\uFFFD\uFFFD");                      // overlong
  EXPECT_EQ(repair_utf8("\xE0\x80\x80"), "\uFFFD\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(repair_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(repair_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // above U+10FFFF
  EXPECT_EQ(repair_utf8("x\xF0\x9F\x98"), "x\uFFFD");                      // cut at the end
}

TEST(Utf8, RepairsTheSameHoweverTheBytesAreCut) {
  const std::string bytes =
      "a\xF0\x9F\x98\x80\xF0\x9F"
      "b\xE2\x82\xE2\x82\xAC\xED\xA0\xFFz\xC3";
  const std::string whole = repair_utf8(bytes);
  for (size_t step = 1; step < 5; ++step) {
    Utf8Repair repair;
    std::string out;
    for (size_t at = 0; at < bytes.size(); at += step) {
      repair.push(std::string_view(bytes).substr(at, step), out);
      EXPECT_TRUE(whole.starts_with(out));
    }
    repair.finish(out);
    EXPECT_EQ(out, whole);
  }
}

TEST(Utf8, ReadsFirstAndLastCharacters) {
  for (const char32_t c : {U'a', U'\u00e9', U'\u20ac', U'\U0001F600'}) {
    std::string text;
    append_utf8(text, c);
    const uint32_t bytes = uint32_t(text.size());
    EXPECT_EQ(first_char(text + "z").value, c);
    EXPECT_EQ(first_char(text + "z").bytes, bytes);
    EXPECT_EQ(last_char("z" + text).value, c);
    EXPECT_EQ(last_char("z" + text).bytes, bytes);
  }
}

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
