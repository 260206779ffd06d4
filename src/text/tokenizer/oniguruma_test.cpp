#include "text/tokenizer/oniguruma.h"

#include <gtest/gtest.h>

#include "text/tokenizer/regex_matches_test.h"

namespace tokamak {
namespace {

struct Row {
  std::string_view pattern, text;
  std::string_view matches;  // with "|" between them
};

// Every expectation is what Oniguruma 6.9.8 finds in its default syntax, as `tokenizers` uses it.
constexpr Row kRows[] = {
    // Classes in classes, and what is in both.
    {"[a-c[x-z]0]+", "abxz0d", "abxz0"},
    {"[^a[bc]]", "abcd", "d"},
    {"[a[^b]]", "ab-", "a|-"},
    {"[^a[^b]]", "ab-", "b"},
    {"[a-f&&c-z]+", "abcdefgh", "cdef"},
    {"[^a-f&&c-z]", "bcx", "b|x"},
    {"[a-z&&[^aeiou]]+", "hello", "h|ll"},
    {"[a&&]", "a&", ""},
    {"[^&&a]", "a&", "a|&"},
    {"[\\W]", "a-\u00b2", "-|\u00b2"},
    {"[\\H\\x41]", "aAg", "A|g"},
    {"[]a]+", "a]b", "a]"},
    {"[a-c-e]+", "a-d-e", "a-|-e"},
    {"[-a]+|[b-]+", "-ab-", "-a|b-"},
    {"[(\\s|.)]", "a(|", "(||"},
    {"[\\R]", "R\n", "R"},
    {"[[:^digit:]x]", "1x-", "x|-"},
    {"[[:punct:]]", "$.", "."},
    // Characters by number, and letters that mean something else to PCRE2.
    {"\\u3042\\x{e9}\\x41", "\u3042\u00e9A", "\u3042\u00e9A"},
    {"[\\u0980-\\u09ff]", "\u0985a", "\u0985"},
    {"\\xE2\\x80\\x99", "\u2019", "\u2019"},
    {"\\101\\012\\0", std::string_view("A\n\0", 3), std::string_view("A\n\0", 3)},
    {"\\o{101}\\cA\\e\\a\\v", "A\x01\x1b\a\v", "A\x01\x1b\a\v"},
    {"\\h+|\\H", "ag", "a|g"},
    {"\\Qa\\E", "QaE", "QaE"},
    {"\\x", "x", "x"},
    {"\\pL", "pL", "pL"},
    {"\\N\\O", "a\n", "a\n"},
    {"a\\R", "a\r\na\u2028", "a\r\n|a\u2028"},
    {"a\\Kb", "ab", "b"},
    {"\\Ga|b", "aaba", "a|a|b|a"},
    {"a\\Z|a\\z", "a\n", "a"},
    // Properties.
    {"\\p{Letter}|\\p{decimal number}", "a1-", "a|1"},
    {"\\p{^L}\\P{^N}", "-1", "-1"},
    {"\\p{han}\\p{Common}", "\u65e5\u3001", "\u65e5\u3001"},
    // Repeats.
    {"a{1,2}+", "aaaa", "aaaa"},
    {"a{2}?", "aaa", "aa|"},
    {"a{3,1}a", "aaa", ""},
    {"a{,2}", "aa", "aa"},
    {"a{,}a{b", "a{,}a{b", "a{,}a{b"},
    {"a**b", "aab", "aab"},
    {"a++a|b", "aab", "b"},
    {"(?:ab){2}{2}", "abababab", "abababab"},
    {"\\p{Nd}{3}+", "1234567", "123456"},
    // Groups and options.
    {"a(?i)b|c", "aB aC", "aB|aC"},
    {"(?i:a(?-i)b|c)", "Ab AB Ac", "Ab|Ac"},
    {"(?m:.)(?-m:.)?", "\na", "\na"},
    {"(?x) a b # c\n [ ] \\ ", "ab  ", "ab  "},
    {"a(?#b)c", "ac", "ac"},
    {"(a|b)\\1", "aabab", "aa"},
    {"(?<n>a)(b)\\k<n>", "aba", "aba"},
    {"(?'n'a)", "a", "a"},
    {"(?>a|ab)c", "abcac", "ac"},
    // Characters that stand for several ones.
    {"(?i)ss", "\u00df SS \u1e9e", "\u00df|SS|\u1e9e"},
    {"(?i)sss", "s\u00df \u00dfS", "\u00dfS"},
    {"(?i)affine|fa", "a\ufb03ne a\ufb00ine", "a\ufb03ne"},
    {"ss", "\u00df", ""},
    {"(?i)[\\p{L}]", "\u0345", "\u0345"},
};

TEST(Oniguruma, MeansThatToPcre2AsWell) {
  for (const Row& row : kRows) {
    EXPECT_EQ(matches_of(row.pattern, row.text), row.matches) << row.pattern;
  }
}

struct Refusal {
  std::string_view pattern, message;  // after the pattern
};

constexpr Refusal kRefusals[] = {
    {"a(?~b)", "uses an absent group at character 2, which is not supported."},
    {"\u00e9(?(1)b)", "uses a condition at character 2, which is not supported."},
    {"(?{a})", "uses a callout at character 1, which is not supported."},
    {"(*FAIL)", "uses a callout at character 1, which is not supported."},
    {"(?P<n>a)", "uses a group of an unknown kind at character 1, which is not supported."},
    {"(?s:.)", "uses the option s at character 1, which is not supported."},
    {"(?W)a", "uses the option W at character 1, which is not supported."},
    {"(a)\\g<1>", "uses a call of a group at character 4, which is not supported."},
    {"(a)\\k<-1>", "uses a reference by number in \\k at character 4, which is not supported."},
    {"\\X", "uses \\X at character 1, which is not supported."},
    {"\\p{Xan}", "uses the property \"Xan\" at character 1, which is not supported."},
    {"\\p{In_Greek}", "uses the property \"In_Greek\" at character 1, which is not supported."},
    {"(?i)\\p{Lu}", "uses the property \"Lu\" under (?i) at character 5, which is not supported."},
    {"(?i)[\\p{Greek}]",
     "uses the property \"Greek\" in a class under (?i) at character 6, which is not supported."},
    {"(?i)\u00df", "uses U+00DF under (?i) at character 5, which is not supported."},
    {"[[:foo:]]", "uses the class [:foo:] at character 2, which is not supported."},
    {"[a-[b]]", "uses a range that ends with a class at character 2, which is not supported."},
    {"(?:a+?)*", "uses a repeat of a lazy repeat at character 8, which is not supported."},
    {"a{70000}", "uses more than 65535 repeats at character 2, which is not supported."},
    {"\\x{41 42}", "uses a list of code points at character 1, which is not supported."},
    {"\\xff", "uses a byte that is no character at character 1, which is not supported."},
    {"a(b", "has \"(\" without \")\" at character 2."},
    {"a)", "has \")\" without \"(\" at character 2."},
    {"[a", "has a class without its end at character 1."},
    {"[]", "has an empty class at character 1."},
    {"[b-a]", "has an empty range at character 2."},
    {"[\\w-.]", "has a range that begins with a class at character 4."},
    {"|*a", "has nothing to repeat at character 2."},
    {"^*", "has a repeated anchor at character 2."},
    {"a\\", "has a backslash without a character at character 2."},
    {"\\u12", "has \\u without four hexadecimal digits at character 1."},
    {"\\x{110000}", "has a code point that does not exist at character 1."},
    {"\\1", "has a reference to no group at character 1."},
    {"\\p{L", "has a property without its end at character 1."},
};

TEST(Oniguruma, RefusesByNameAndPlace) {
  for (const Refusal& refusal : kRefusals) {
    EXPECT_EQ(matches_of(refusal.pattern, ""),
              fmt::format("The regular expression \"{}\" {}", refusal.pattern, refusal.message));
  }
}

TEST(Oniguruma, RefusesToNestTooDeeply) {
  std::string groups, classes;
  for (size_t i = 0; i < 200; ++i) groups += '(', classes += '[';
  EXPECT_NE(matches_of(groups, "").find("groups nested too deeply"), std::string::npos);
  EXPECT_NE(matches_of(classes, "").find("classes nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace tokamak
