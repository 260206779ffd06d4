#include <gtest/gtest.h>

#include <algorithm>

#include "text/grammar/matcher.h"
#include "text/unicode/unicode.h"

namespace tokamak {
namespace {

Grammar parsed(std::string_view text) {
  auto grammar = Grammar::parse(text);
  if (!grammar) {
    ADD_FAILURE() << grammar.error().message;
    return Grammar::parse("root ::= [^]").value();
  }
  return *std::move(grammar);
}

/// Whether `text` is one of the grammar's, as a whole.
bool has(const Grammar& grammar, std::string_view text) {
  GrammarMatcher matcher(grammar);
  if (!matcher.allows(text)) return false;
  matcher.push(text);
  return matcher.may_end();
}

void expect_texts(std::string_view gbnf, const std::vector<std::string_view>& texts,
                  const std::vector<std::string_view>& others) {
  const Grammar grammar = parsed(gbnf);
  for (const std::string_view text : texts) EXPECT_TRUE(has(grammar, text)) << gbnf << ": " << text;
  for (const std::string_view text : others) {
    EXPECT_FALSE(has(grammar, text)) << gbnf << ": " << text;
  }
}

void expect_error(std::string_view gbnf, std::string_view message) {
  const auto grammar = Grammar::parse(gbnf);
  ASSERT_FALSE(grammar) << gbnf;
  EXPECT_EQ(grammar.error().message, message);
}

TEST(Grammar, FollowsLiteralsChoicesAndGroups) {
  expect_texts("root ::= \"a\" (\"b\" | \"c\" \"d\") | \"\"", {"ab", "acd", ""},
               {"a", "ac", "abc"});
}

TEST(Grammar, Repeats) {
  expect_texts("root ::= \"a\"* \"b\"+ \"c\"?", {"b", "aabb", "abc"}, {"", "a", "bcc"});
  expect_texts("root ::= \"a\"{2} \"b\"{1,} \"c\"{0,2}", {"aab", "aabbbcc"},
               {"ab", "aa", "aabccc"});
  expect_texts("root ::= (\"a\" | \"\")* \"b\"", {"b", "aab"}, {"a"});
}

TEST(Grammar, TakesClassesOfCharactersOfAnyLength) {
  expect_texts("root ::= [a-cx]", {"a", "c", "x"}, {"d", "", "ab"});
  expect_texts("root ::= [^a-c\\n]", {"d", "\xC3\xA9", "\xF0\x9F\x98\x80"}, {"a", "\n", "\xC3"});
  expect_texts("root ::= [\\u00e8-\\u4e00]",
               {"\xC3\xA8", "\xC3\xA9", "\xE0\xA4\x85", "\xE4\xB8\x80"},
               {"\xC3\xA7", "\xE4\xB8\x81", "z"});
  expect_texts("root ::= .", {"a", "\xF4\x8F\xBF\xBF"},
               {"", "ab", "\xED\xA0\x80", "\xF4\x90\x80\x80"});
  expect_texts("root ::= [\\]\\-\\\\] \"\\\"\\x41\\U0001F600\"", {"]\"A\xF0\x9F\x98\x80"},
               {"]\"A"});
  expect_texts("root ::= \"a\" | []", {"a"}, {"", "b"});
}

TEST(Grammar, ChecksTheRangeOfEveryCharacter) {
  // Around every border of the lengths of UTF-8, against the numbers themselves.
  const Grammar grammar = parsed("root ::= [\\x41-\\u07FE\\u0900-\\uFFFE\\U00010010-\\U0010FFFE]");
  for (const uint32_t border :
       {0x41u, 0x7Fu, 0x800u, 0x900u, 0xD800u, 0xE000u, 0x10000u, 0x10010u, 0x20000u, 0x10FFFFu}) {
    for (uint32_t c = border - 3; c <= std::min(border + 3, 0x10FFFFu); ++c) {
      if (c >= 0xD800 && c <= 0xDFFF) continue;
      const bool is_in = (c >= 0x41 && c <= 0x7FE) || (c >= 0x900 && c <= 0xFFFE) ||
                         (c >= 0x10010 && c <= 0x10FFFE);
      std::string text;
      append_utf8(text, c);
      EXPECT_EQ(has(grammar, text), is_in) << c;
    }
  }
}

TEST(Grammar, FollowsRulesThatCallEachOther) {
  constexpr std::string_view kLists = R"(
# lists of lists
root ::= list
list ::= "[" (item
   ("," item)*)? "]"
item ::= list | number   # either
number ::= [0-9]+
)";
  expect_texts(kLists, {"[]", "[1,22,[3]]", "[[[]]]"}, {"", "[", "[1,]", "[]]", "1"});
}

TEST(Grammar, KeepsNoReturnsOfRulesThatEndInThemselves) {
  const Grammar grammar = parsed("root ::= \"a\" root | \"b\"");
  GrammarMatcher matcher(grammar);
  const std::string many(300000, 'a');
  ASSERT_TRUE(matcher.allows(many));
  matcher.push(many);
  EXPECT_FALSE(matcher.may_end());
  EXPECT_TRUE(matcher.allows("b"));
  EXPECT_FALSE(matcher.is_too_wide());
}

TEST(Grammar, ContinuesWhereMuchWasForgotten) {
  const Grammar grammar = parsed("root ::= \"(\" root* \")\"");
  GrammarMatcher matcher(grammar);
  constexpr int kDepth = 20000;  // places, more than are remembered
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_TRUE(matcher.allows("("));
    matcher.push("(");
  }
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_FALSE(matcher.may_end());
    ASSERT_TRUE(matcher.allows(")")) << i;
    matcher.push(")");
  }
  EXPECT_TRUE(matcher.may_end());
  EXPECT_FALSE(matcher.may_continue());
}

TEST(Grammar, LeavesAPlaceOfTooManyWaysAtOnce) {
  for (const uint32_t count : {40u, 1000u}) {
    const Grammar grammar = parsed(fmt::format(
        "root ::= \"y\" a{{{0}}}\na ::= b{{{0}}}\nb ::= c{{{0}}}\nc ::= \"x\"?", count));
    const auto places = std::make_shared<GrammarPlaces>(grammar);
    GrammarMatcher matcher(places);
    EXPECT_FALSE(matcher.is_too_wide());
    matcher.push("y");
    EXPECT_TRUE(matcher.is_too_wide());
    EXPECT_LT(places->work(), 2 * GrammarPlaces::kMaxPlaceWork) << count;
    EXPECT_FALSE(matcher.allows("x"));
  }
}

TEST(Grammar, IsFollowedWithinABudget) {
  // Each place has as many ways as it may, and there is another one after each byte.
  const Grammar grammar = parsed("root ::= ((\"x\"?){1000}){2} ([0-9] (\"x\"?){1000}){50}");
  const auto places = std::make_shared<GrammarPlaces>(grammar);
  GrammarMatcher matcher(places);
  matcher.push("x");
  ASSERT_FALSE(matcher.is_too_wide());
  for (uint32_t i = 0; i < 3000 && !matcher.is_too_wide(); ++i) {
    if (matcher.allows("x")) matcher.push("x");
    if (matcher.allows("0")) matcher.push("0");
  }
  EXPECT_TRUE(matcher.is_too_wide()) << "nobody has renewed the budget";
  EXPECT_LT(places->work(), GrammarPlaces::kMaxWork + 2 * GrammarPlaces::kMaxPlaceWork);
}

TEST(Grammar, RefusesTooManyWaysToBegin) {
  constexpr std::string_view kMessage =
      "The grammar has more than 4096 ways to begin; repetitions of what may be empty, or of each "
      "other, are the commonest cause.";
  expect_error("root ::= a{1000}\na ::= b{1000}\nb ::= c{1000}\nc ::= \"x\"?", kMessage);
  expect_error("root ::= ((\"x\"?){1000}){6}", kMessage);
}

TEST(Grammar, RefusesWhatIsNoGrammarByItsLine) {
  expect_error("", "The grammar has no rule \"root\", which says what a whole text is.");
  expect_error("root ::= other", "line 1: There is no rule \"other\".");
  expect_error("root ::= \"a\"\nroot ::= \"b\"", "line 2: The rule \"root\" is in line 1 already.");
  expect_error("\n= \"a\"", "line 2: Expected a rule, \"name ::= ...\", but \"=\" is there.");
  expect_error("root ::= (\"a\"", "line 1: Expected \")\", but the text ends.");
  expect_error("root ::= \"a", "line 1: Expected the \" that ends the literal, but the text ends.");
  expect_error("root ::= \"a\nb\"",
               "line 1: Expected the \" that ends the literal, but \"\\n\" is there.");
  expect_error("root ::= [a", "line 1: Expected the ] that ends the class, but the text ends.");
  expect_error("root ::= [b-a]", "line 1: A range of a class goes from U+0062 down to U+0061.");
  expect_error("root ::= \"\\q\"",
               "line 1: Expected one of n r t \\ \" [ ] - ^ x u U after a \\, but \"q\" is there.");
  expect_error("root ::= \"\\xg0\"", "line 1: Expected a hexadecimal digit, but \"g\" is there.");
  expect_error("root ::= \"\\x1\x11\"",
               "line 1: Expected a hexadecimal digit, but \"\x11\" is there.");
  expect_error("root ::= \"\\U99999999\"", "line 1: U+99999999 is no character.");
  expect_error("root ::= \"\\ud800\"", "line 1: U+D800 is no character.");
  expect_error("root ::= \"a\"{3,1}", "line 1: {3,1} asks for at most fewer than at least.");
  expect_error("root ::= \"a\"{2000}", "line 1: More than 1000 repetitions.");
  expect_error("root ::= \"a\"+*",
               "line 1: Expected one repetition, or parentheses around it, but \"*\" is there.");
  expect_error("root ::= ;",
               "line 1: Expected a literal, a class, a group or the name of a rule, "
               "but \";\" is there.");
  expect_error("root ::= \"\xFF\"", "The grammar is not UTF-8.");
  expect_error("root ::= ((\"a\"{1000}){1000}){1000}",
               "The grammar takes more than 1000000 states; its repetitions are too many.");
  expect_error(std::string(Grammar::kMaxTextBytes + 1, ' '),
               "The grammar has 1048577 bytes; at most 1048576 are read.");
  std::string deep = "root ::= ";
  for (int i = 0; i < 1000; ++i) deep += '(';
  expect_error(deep, "line 1: More than 150 groups in each other.");
}

TEST(Grammar, RefusesRulesThatBeginWithThemselves) {
  constexpr std::string_view kEnd =
      "may begin with itself; put what comes first in front of it, as in \"list ::= item list?\".";
  expect_error("root ::= root \"a\" | \"b\"", fmt::format("line 1: The rule \"root\" {}", kEnd));
  expect_error("root ::= a\na ::= \"\" b\nb ::= \"x\"? a",
               fmt::format("line 2: The rule \"a\" {}", kEnd));
}

}  // namespace
}  // namespace tokamak
