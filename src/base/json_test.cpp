#include "base/json.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(parsed.error().message,
            "The JSON text is malformed at line 3 column 1, near \"1,<U+000A>}\".");
}

TEST(Json, RejectsDeepNestingWithoutRecursion) {
  auto parsed = Json::parse(std::string(100000, '['));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "The JSON text nests deeper than 256 levels.");
}

TEST(Json, IntegersThatDoNotFitAreNumbers) {
  for (const char* text : {"1000000000000000019884624838656", "18446744073709551615",
                           "9223372036854775808", "-9223372036854775809"}) {
    const auto json = Json::parse(text);
    ASSERT_TRUE(json) << text;
    EXPECT_FALSE(json->is_integer()) << text;
    EXPECT_EQ(json->as_number(), std::strtod(text, nullptr)) << text;
  }
  EXPECT_EQ(Json::parse("9223372036854775807")->as_integer(), INT64_MAX);
  EXPECT_EQ(Json::parse("-9223372036854775808")->as_integer(), INT64_MIN);
  EXPECT_FALSE(Json::parse("1e400"));
}

TEST(Json, RejectsInvalidUtf8AndTruncation) {
  EXPECT_FALSE(Json::parse("\"\xff\""));
  EXPECT_FALSE(Json::parse(""));
  auto cut = Json::parse("{\"a\": [1, 2");
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message.find("ends too early"), std::string::npos);
}

TEST(Json, KeepsDuplicateNamesForTheReaderToRefuse) {
  EXPECT_EQ(Json::parse(R"({"a":1,"a":2})")->as_object().size(), 2u);
}

TEST(Json, FindsTheLastOfDuplicateNames) {
  EXPECT_EQ(*Json::parse(R"({"a":1,"b":3,"a":2})")->find("a"), Json(2));
}

}  // namespace
}  // namespace tokamak
