#include <gtest/gtest.h>

#include "text/grammar/matcher.h"

namespace tokamak {
namespace {

bool has(const Grammar& grammar, std::string_view text) {
  GrammarMatcher matcher(grammar);
  if (!matcher.allows(text)) return false;
  matcher.push(text);
  return matcher.may_end();
}

void expect_texts(std::string_view schema, const std::vector<std::string_view>& texts,
                  const std::vector<std::string_view>& others) {
  const auto grammar = Grammar::from_json_schema(schema);
  ASSERT_TRUE(grammar) << schema << ": " << grammar.error().message;
  for (const auto text : texts) EXPECT_TRUE(has(*grammar, text)) << schema << ": " << text;
  for (const auto text : others) EXPECT_FALSE(has(*grammar, text)) << schema << ": " << text;
}

void expect_error(std::string_view schema, std::string_view message) {
  const auto grammar = Grammar::from_json_schema(schema);
  ASSERT_FALSE(grammar) << schema;
  EXPECT_EQ(grammar.error().message, message);
}

TEST(JsonSchema, TakesAnyJsonWhereNothingIsAsked) {
  expect_texts("{}", {R"({"a": [1, -0.5e+3, "x\n\u0001", null], "b":{}})", "true", "[\n  1\n]"},
               {"", " 1", "1 ", "01", "+1", "\"\n\"", "[1,]", "{\"a\"}", "nul", "1."});
  expect_error("false", "#: No value satisfies this schema.");
}

TEST(JsonSchema, ConstrainsTypesAndValues) {
  expect_texts(R"({"type": ["integer", "null"]})", {"-12", "null", "0"}, {"1.5", "\"a\"", "1e2"});
  expect_texts(R"({"enum": [1, "a\"b", [2, {"x": null}]]})",
               {"1", "1.0", R"("a\"b")", R"([2, {"x": null}])"}, {"2", "[2]", "\"a\""});
}

TEST(JsonSchema, ConstrainsObjects) {
  constexpr std::string_view kSchema =
      R"({"type": "object", "properties": {"a": {"type": "integer"},
      "b": {"type": "string"}}, "required": ["b"], "additionalProperties": {"type": "null"}})";
  expect_texts(
      kSchema, {R"({"a": 1, "b": ""})", R"({"b": "x"})", R"({"b": "", "c": null})"},
      {"{}", R"({"b": 1})", R"({"b": "", "c": 1})", R"({"b": "", "a": "x"})", R"({"b": "",})"});
  expect_texts(R"({"type": "object", "maxProperties": 2, "minProperties": 1})",
               {R"({"a": 1})", R"({"a": 1, "b": 2})"}, {"{}", R"({"a": 1, "b": 2, "c": 3})"});
  expect_texts(R"({"type": "object", "patternProperties": {"^n": {"type": "integer"}},
                   "propertyNames": {"maxLength": 3}, "additionalProperties": false})",
               {"{}", R"({"n": 1, "nab": 2})"}, {R"({"n": "x"})", R"({"nabc": 1})", R"({"x": 1})"});
}

TEST(JsonSchema, ConstrainsArrays) {
  expect_texts(R"({"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "boolean"},
                   "minItems": 1, "maxItems": 3})",
               {"[null]", "[null, true, false]"}, {"[]", "[true]", "[null, true, true, true]"});
  expect_texts(R"({"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 5},
                   "maxContains": 1})",
               {"[5]", "[1, 9, 2]"}, {"[]", "[1]", "[5, 6]"});
  expect_texts(R"({"type": "array", "items": {"enum": [1, 2, "x"]}, "uniqueItems": true})",
               {"[]", R"([2, "x", 1])"}, {"[1, 1]", "[3]"});
}

TEST(JsonSchema, ConstrainsNumbersByTheirDigits) {
  expect_texts(R"({"type": "integer", "minimum": -12, "exclusiveMaximum": 105})",
               {"-12", "-9", "0", "99", "104"}, {"-13", "105", "999", "-0", "1.5"});
  expect_texts(R"({"type": "number", "exclusiveMinimum": -0.25, "maximum": 2.5})",
               {"-0.249", "0", "2.50", "2.4999", "0.0"}, {"-0.25", "-0.250", "2.51", "3", "-1"});
  expect_texts(R"({"type": "integer", "multipleOf": 7})", {"0", "7", "-14", "700"}, {"1", "15"});
  expect_texts(R"({"type": "number", "multipleOf": 0.25})", {"0.5", "-1.75", "3", "2.250"},
               {"0.1", "0.375"});
  expect_texts(R"({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer",
                   "minimum": 3, "exclusiveMinimum": true, "maximum": 5})",
               {"4", "5"}, {"3", "6"});
}

TEST(JsonSchema, ConstrainsStringsByTheirValues) {
  expect_texts(R"({"type": "string", "minLength": 2, "maxLength": 3})",
               {"\"ab\"", "\"\u00e9\u00e9\"", R"("\n\"\\")"}, {"\"a\"", "\"abcd\"", "\"ab"});
  expect_texts(R"({"type": "string", "pattern": "b$", "maxLength": 3})", {"\"aab\"", "\"b\""},
               {"\"ba\"", "\"aaab\""});
  expect_texts(R"({"type": "string", "pattern": "^\"\\\\n\n$"})", {R"("\"\\n\n")"}, {R"("\n")"});
  expect_texts(R"({"type": "string", "format": "date"})", {"\"2024-02-29\"", "\"1999-12-31\""},
               {"\"2023-02-29\"", "\"2024-13-01\"", "\"today\""});
  expect_texts(R"({"type": "string", "format": "nobody knows it"})", {"\"x\""}, {"1"});
}

TEST(JsonSchema, FollowsReferences) {
  expect_texts(R"({"$defs": {"list": {"type": ["object", "null"], "properties":
                   {"next": {"$ref": "#/$defs/list"}}, "additionalProperties": false}},
                   "$ref": "#/$defs/list"})",
               {"null", R"({"next": {"next": null}})"}, {R"({"next": 1})", R"({"x": null})"});
  expect_error(R"({"$ref": "http://example.com/x"})",
               "#: $ref to \"http://example.com/x\", which is outside of the schema, is not "
               "supported.");
  expect_error(R"({"$ref": "#/x"})", "#: $ref leads to \"#/x\", but there is no such place.");
  expect_error(R"({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}})",
               "#: No value satisfies this schema.");
}

TEST(JsonSchema, CombinesSchemas) {
  expect_texts(R"({"allOf": [{"minimum": 3}, {"type": "integer"}], "maximum": 4})", {"3", "4"},
               {"2", "5", "3.5"});
  expect_texts(R"({"anyOf": [{"type": "string"}, {"const": 1}]})", {"\"\"", "1"}, {"2", "null"});
  expect_texts(R"({"oneOf": [{"type": "integer", "maximum": 5}, {"type": "integer",
                   "minimum": 3}]})",
               {"2", "6"}, {"3", "5"});
  expect_texts(R"({"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}, "required":
                   ["kind"], "if": {"properties": {"kind": {"const": "a"}}}, "then": {"required":
                   ["x"]}, "additionalProperties": {"type": "null"}})",
               {R"({"kind": "a", "x": null})", R"({"kind": "b"})"}, {R"({"kind": "a"})"});
  expect_texts(R"({"type": "string", "not": {"pattern": "a"}})", {"\"b\""}, {"\"ba\"", "1"});
  expect_texts(R"({"type": "object", "allOf": [{"properties": {"a": true}}],
                   "unevaluatedProperties": false})",
               {"{}", R"({"a": 1})"}, {R"({"b": 1})"});
}

TEST(JsonSchema, RefusesByKeywordAndPlace) {
  expect_error(R"({"properties": {"a/b": {"uniqueItems": true}}})",
               "#/properties/a~1b: uniqueItems for items of more than 10 possible values is not "
               "supported.");
  expect_error(R"({"items": {"pattern": "(?=a)b"}})",
               "#/items: pattern \"(?=a)b\" (character 2 of the expression: look-around cannot be "
               "held by an automaton) is not supported.");
  expect_error(R"({"not": {"propertyNames": {"maxLength": 1}}})",
               "#/not: the opposite of propertyNames is not supported.");
  expect_error(R"({"type": "text"})", "#: type \"text\" is none of JSON's.");
  expect_error(R"({"items": 1})",
               "#/items: a schema is an object, true or false, but this is an integer.");
}

TEST(JsonSchema, AnObjectHasADepth) {
  const Grammar grammar = Grammar::json_object();
  EXPECT_TRUE(has(grammar, R"({"a": [{"b": 1}]})"));
  EXPECT_FALSE(has(grammar, "[]"));
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "{\"a\": ";
  EXPECT_FALSE(GrammarMatcher(grammar).allows(deep));
}

TEST(RegexGrammar, DescribesTheWholeText) {
  const auto grammar = Grammar::from_regex("^(a|[\\d-]{2,3}?)\\.\\u00e9+$");
  ASSERT_TRUE(grammar) << grammar.error().message;
  EXPECT_TRUE(has(*grammar, "a.\u00e9"));
  EXPECT_TRUE(has(*grammar, "1-2.\u00e9\u00e9"));
  EXPECT_FALSE(has(*grammar, "1.\u00e9"));
  EXPECT_FALSE(has(*grammar, "xa.\u00e9"));
}

TEST(RegexGrammar, RefusesWhatNoAutomatonHolds) {
  for (const auto& [expression, message] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"a(", "character 3 of the expression: expected \")\""},
           {"*", "character 1 of the expression: there is nothing to repeat"},
           {"(a)\\1",
            "character 6 of the expression: a back reference cannot be held by an automaton"},
           {"a$b", "No text is what is asked for."}}) {
    const auto none = Grammar::from_regex(expression);
    ASSERT_FALSE(none) << expression;
    EXPECT_EQ(none.error().message, message);
  }
}

TEST(Choices, AreTheTextsAndNoOthers) {
  const std::vector<std::string> texts = {"yes", "no", "not now"};
  const auto grammar = Grammar::from_choices(texts);
  ASSERT_TRUE(grammar) << grammar.error().message;
  for (const std::string& text : texts) EXPECT_TRUE(has(*grammar, text));
  EXPECT_FALSE(has(*grammar, "not"));
  EXPECT_FALSE(Grammar::from_choices({}));
  const std::vector<std::string> empty = {""};
  EXPECT_FALSE(Grammar::from_choices(empty));
}

}  // namespace
}  // namespace tokamak
