#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {
namespace {

TEST(Json, RoundTripsAndKeepsOrder) {
  const std::string text =
      R"({"b": [1, 2.5, -3, true, null], "a": "q\"\\\n\u0001é", "e": {}, "z": []})";
  auto parsed = Json::parse(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->dump(), text);
  EXPECT_EQ(Json::parse(parsed->dump(2)), *parsed);
}

TEST(Json, NamesLineAndColumnOfAMistake) {
  auto parsed = Json::parse("{\n  \"a\": 1,\n}");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "The JSON text is malformed at line 3 column 1, near \"}\".");
}

TEST(Json, RejectsDeepNestingWithoutRecursion) {
  auto parsed = Json::parse(std::string(100000, '['));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "The JSON text nests deeper than 256 levels.");
}

TEST(Json, KeepsTheDigitsOfIntegersBeyond64Bits) {
  for (const char* text : {"123456789012345678901234567890", "18446744073709551615",
                           "9223372036854775808", "-9223372036854775809"}) {
    const auto json = Json::parse(text);
    ASSERT_TRUE(json) << text;
    EXPECT_FALSE(json->is_integer()) << text;
    EXPECT_TRUE(json->is_number()) << text;
    EXPECT_EQ(json->as_number(), std::strtod(text, nullptr)) << text;
    EXPECT_EQ(json->dump(), text);
  }
  EXPECT_EQ(Json::parse("9223372036854775807")->as_integer(), INT64_MAX);
  EXPECT_EQ(Json::parse("-9223372036854775808")->as_integer(), INT64_MIN);
  EXPECT_EQ(Json(UINT64_MAX).dump(), "18446744073709551615");
  EXPECT_EQ(Json::parse(std::string(400, '9'))->as_number(), HUGE_VAL);
  EXPECT_EQ(Json::parse(std::string(5000, '9')).error().message,
            "The number 99999999999999999999... has more than 4300 digits.");
}

TEST(Json, ReadsTheNumbersThatPythonWrites) {
  const auto number = [](std::string_view text) { return Json::parse(text)->as_number(); };
  EXPECT_EQ(number("Infinity"), HUGE_VAL);
  EXPECT_EQ(number("-Infinity"), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(number("NaN")));
  EXPECT_EQ(Json::parse(R"({"a": [0.0, Infinity], "b": NaN})")->dump(),
            R"({"a": [0, null], "b": null})");
  for (const char* text : {"nan", "inf", "+Infinity", "-NaN", "Infinit", "[NaN1]", "{NaN: 1}"}) {
    EXPECT_FALSE(Json::parse(text)) << text;
  }
}

TEST(Json, ReadsNumbersToTheNearest) {
  const auto number = [](const std::string& text) { return Json::parse(text)->as_number(); };
  EXPECT_EQ(number("-0.1e-2"), -0.001);
  EXPECT_EQ(number("1E+2"), 100);
  EXPECT_EQ(number("5e-324"), 5e-324);
  EXPECT_EQ(number("1e400"), HUGE_VAL);
  EXPECT_EQ(number("-1e99999999999"), -HUGE_VAL);
  EXPECT_EQ(number("1e-400"), 0);
  EXPECT_EQ(number("0." + std::string(400, '0') + "1"), 0);
  EXPECT_EQ(number("0." + std::string(400, '0') + "1e800"), HUGE_VAL);
  for (const char* text : {"01", "-", "1.", ".5", "1e", "1e+", "0x10", "+1", "1_0"}) {
    EXPECT_FALSE(Json::parse(text)) << text;
  }
}

TEST(Json, ReadsTexts) {
  const auto text = [](std::string_view json) { return Json::parse(json)->as_string(); };
  EXPECT_EQ(text(R"("\"\\\/\b\f\n\r\tx")"), "\"\\/\b\f\n\r\tx");
  EXPECT_EQ(text(R"("\u00e9\u20AC\ud83d\ude00")"), "\u00e9\u20ac\U0001F600");
  EXPECT_EQ(text("\"\uFFFD\u00e9\""), "\uFFFD\u00e9");
  for (const char* json :
       {R"("\ud83d")", R"("\ude00")", R"("\ud83dx")", R"("\ud83d\u0041")", R"("\x41")",
        R"("\u12g4")", R"("\u-123")", "\"\n\"", "\"\x7f\xff\"", "\"\xed\xa0\x80\"", "\"\xc3\""}) {
    EXPECT_FALSE(Json::parse(json)) << json;
  }
}

TEST(Json, RefusesWhatIsNoDocument) {
  for (const char* text :
       {"",    " ",          "1 2",   "[1,]",   "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}",
        "{,}", "{\"a\":1,}", "{1:2}", "[}",     "{]",   "]",     "tru",     "nul",
        "[1",  "{\"a\": 1",  "\"a",   "{\"a\"", "[1],", "'a'",   "// x\n1"}) {
    EXPECT_FALSE(Json::parse(text)) << text;
  }
  EXPECT_FALSE(Json::parse(std::string_view("{}\0x", 4)));
  EXPECT_TRUE(Json::parse("\xEF\xBB\xBF \t\r\n{} \n"));
}

TEST(Json, WritesUtf8WhateverTheBytes) {
  EXPECT_EQ(Json("caf\xe9 \xf0\x9f\x98").dump(), "\"caf\uFFFD \uFFFD\"");
  Json object;
  object.set("\xff", 1);
  EXPECT_EQ(object.dump(), "{\"\uFFFD\": 1}");
}

TEST(Json, RejectsInvalidUtf8AndTruncation) {
  EXPECT_EQ(Json::parse("[\"a\xff\"]").error().message,
            "The JSON text is malformed at line 1 column 4, near \"\"a?\".");
  EXPECT_EQ(Json::parse("").error().message, "The JSON text is empty.");
  EXPECT_EQ(Json::parse("{\"a\": [1, 2").error().message,
            "The JSON text ends too early, at line 1 column 12.");
}

TEST(Json, KeepsDuplicateNamesForTheReaderToRefuse) {
  EXPECT_EQ(Json::parse(R"({"a":1,"a":2})")->as_object().size(), 2u);
}

TEST(Json, FindsTheLastOfDuplicateNames) {
  EXPECT_EQ(*Json::parse(R"({"a":1,"b":3,"a":2})")->find("a"), Json(2));
}

TEST(Json, IsShownWholeOrCutBetweenCharacters) {
  const Json value("\u20ac\u20ac");  // 3 bytes each, between quotes
  EXPECT_EQ(shown(value), "\"\u20ac\u20ac\"");
  EXPECT_EQ(shown(value, 8), "\"\u20ac\u20ac\"");
  EXPECT_EQ(shown(value, 7), "\"\u20ac...");
  EXPECT_EQ(shown(value, 6), "\"...");
}

}  // namespace
}  // namespace tokamak
