#include "base/utf8.h"

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

TEST(Utf8, CutsOnlyBetweenCharacters) {
  const std::string text = "a\u00e9\u20ac\U0001F600";  // of 1, 2, 3 and 4 bytes
  const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (size_t bytes = 0; bytes < std::size(kept); ++bytes) {
    EXPECT_EQ(utf8_prefix(text, bytes).size(), kept[bytes]) << bytes;
  }
  EXPECT_EQ(utf8_prefix("\x80\x80\x80", 2), "") << "ends nowhere";
}

TEST(Utf8, WalksThroughAnyBytesWithoutLeavingThem) {
  const auto is = [](Utf8Char c, char32_t value, uint32_t bytes) {
    return c.value == value && c.bytes == bytes;
  };
  EXPECT_TRUE(is(first_char("\xE6\x97"), kReplacementChar, 2));  // cut
  EXPECT_TRUE(is(first_char("\xE6"), kReplacementChar, 1));
  EXPECT_TRUE(is(first_char("\xF0\x9F\x98"), kReplacementChar, 3));
  EXPECT_TRUE(is(first_char("\xE6xyz"), kReplacementChar, 1));  // broken off
  EXPECT_TRUE(is(first_char("\x97"), kReplacementChar, 1));     // begins in the middle
  EXPECT_TRUE(is(first_char("\xFF\xFE\xFD\xFC"), kReplacementChar, 1));
  EXPECT_TRUE(is(first_char("\xF7\xBF\xBF\xBF"), kReplacementChar, 1));  // above U+10FFFF
  EXPECT_TRUE(is(first_char("\xC0\x80"), kReplacementChar, 1));          // overlong
  EXPECT_TRUE(is(last_char("a\xE6\x97"), kReplacementChar, 2));
  EXPECT_TRUE(is(last_char("a\xE6\x97\x97\x97"), kReplacementChar, 1));
  EXPECT_TRUE(is(last_char("a\x97\x97"), kReplacementChar, 1));
  EXPECT_TRUE(is(last_char("\x97"), kReplacementChar, 1));
  const std::string bytes = "a\xE6\x97\xF0\x9F\x98\xC3";
  for (size_t begin = 0; begin < bytes.size(); ++begin) {
    const std::string whole = bytes.substr(begin);
    std::string walked;
    for (std::string_view rest = whole; !rest.empty();) {
      const Utf8Char c = first_char(rest);
      ASSERT_LE(c.bytes, rest.size());
      append_utf8(walked, c.value);
      rest.remove_prefix(c.bytes);
    }
    EXPECT_EQ(walked, repair_utf8(whole));
    for (std::string_view rest = whole; !rest.empty();) {
      const Utf8Char c = last_char(rest);
      ASSERT_LE(c.bytes, rest.size());
      rest.remove_suffix(c.bytes);
    }
  }
}

}  // namespace
}  // namespace tokamak
