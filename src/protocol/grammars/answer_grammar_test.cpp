#include "protocol/grammars/answer_grammar.h"

#include <gtest/gtest.h>

#include "protocol/output/tool_family.h"
#include "text/grammar/matcher.h"

namespace tokamak::protocol {
namespace {

Fields choice_of(std::string word) {
  Fields fields;
  fields.json_schema = Json::Object{};
  fields.json_schema.set("enum", Json::Array{Json(std::move(word))});
  return fields;
}

std::shared_ptr<const Grammar> made(AnswerGrammars& grammars, const Fields& fields,
                                    const OutputFormat& form = {}, std::string_view tenant = {}) {
  const auto grammar = grammars.of(fields, form, tenant);
  EXPECT_TRUE(grammar) << grammar.error().message;
  return grammar ? grammar->grammar : nullptr;
}

TEST(AnswerGrammars, KeepThoseThatAreAskedForAgain) {
  AnswerGrammars grammars;
  const auto first = made(grammars, choice_of("a"));
  ASSERT_NE(first, nullptr);
  for (int i = 0; i < 100; ++i) {
    made(grammars, choice_of(std::to_string(i)));
    ASSERT_EQ(made(grammars, choice_of("a")), first) << "used in between";
  }
  const auto last = made(grammars, choice_of("99"));
  EXPECT_EQ(made(grammars, choice_of("99")), last);
  const std::weak_ptr<const Grammar> dropped = made(grammars, choice_of("b"));
  for (int i = 0; i < 64; ++i) made(grammars, choice_of(std::to_string(i)));
  EXPECT_TRUE(dropped.expired()) << "the one that was not used for longest goes";
}

TEST(AnswerGrammars, DependOnEverythingThatHoldsTheAnswer) {
  AnswerGrammars grammars;
  const auto plain = made(grammars, choice_of("a"));
  OutputFormat reasoning;
  reasoning.reasoning_close = "</think>";
  reasoning.starts_in_reasoning = true;
  EXPECT_NE(made(grammars, choice_of("a"), reasoning), plain);
  Fields regex;
  regex.regex = "a";
  Fields gbnf;
  gbnf.grammar = "root ::= \"a\"";
  EXPECT_NE(made(grammars, regex), made(grammars, gbnf));
  EXPECT_EQ(made(grammars, Fields()), nullptr);
}

TEST(AnswerGrammars, OfOneTenantAreNotAtHandForAnother) {
  AnswerGrammars grammars;
  const auto first = made(grammars, choice_of("a"), {}, "one");
  EXPECT_NE(made(grammars, choice_of("a"), {}, "two"), first);
  EXPECT_EQ(made(grammars, choice_of("a"), {}, "one"), first);
}

bool is_whole(const Grammar& grammar, std::string_view text) {
  GrammarMatcher matcher(grammar);
  if (!matcher.allows(text)) return false;
  matcher.push(text);
  return matcher.may_end();
}

Fields with_tool(std::string_view parameters) {
  Fields fields;
  fields.tools = *Json::parse(fmt::format(
      R"([{{"type": "function", "function": {{"name": "f", "parameters": {}}}}}])", parameters));
  return fields;
}

OutputFormat with_calls() {
  OutputFormat form;
  form.tools = &tool_families().front();
  return form;
}

TEST(AnswerGrammars, ToolsMayBeCalledBeforeTheAnswerThatHasASchema) {
  AnswerGrammars grammars;
  Fields fields = with_tool(R"({"type": "object"})");
  fields.response_format = *Json::parse(R"({"type": "json_schema", "json_schema": {"schema": {
      "type": "object", "properties": {"ok": {"const": true}}, "required": ["ok"],
      "additionalProperties": false}}})");
  const auto held = grammars.of(fields, with_calls(), {});
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_TRUE(held->holds_calls);
  EXPECT_FALSE(held->demands_calls);
  EXPECT_TRUE(is_whole(*held->grammar, R"({"ok": true})"));
  EXPECT_TRUE(is_whole(*held->grammar,
                       "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"));
  EXPECT_FALSE(is_whole(*held->grammar, R"({"ok": false})"));
  EXPECT_FALSE(is_whole(*held->grammar, "Hello"));
}

TEST(AnswerGrammars, AWrongSchemaIsDistinguishedFromOneThatCannotBeEnforced) {
  AnswerGrammars grammars;
  const auto wrong =
      grammars.of(with_tool(R"({"type": "object", "minProperties": "two"})"), with_calls(), {});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().param, "tools[0].function.parameters");
  const auto loose = grammars.of(
      with_tool(R"({"type": "object", "properties": {"a": {"$ref": "http://example.com/a"}}})"),
      with_calls(), {});
  ASSERT_TRUE(loose) << loose.error().message;
  EXPECT_TRUE(is_whole(*loose->grammar,
                       "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"b\": 1}}\n</tool_call>"));
}

TEST(AnswerGrammars, SchemasMayHaveEmptyListsForEmptyObjects) {
  AnswerGrammars grammars;
  for (const char* schema : {"[]", R"({"type": "object", "properties": []})",
                             R"({"type": "object", "properties": {"a": []}, "required": null})"}) {
    Fields fields;
    fields.response_format = *Json::parse(
        fmt::format(R"({{"type": "json_schema", "json_schema": {{"schema": {}}}}})", schema));
    EXPECT_TRUE(is_whole(*made(grammars, fields), R"({"a": 1})")) << schema;
  }
}

TEST(AnswerGrammars, ATextMayBeOneOfSeveral) {
  AnswerGrammars grammars;
  Fields fields;
  fields.choices = Json::Array{"yes", "no"};
  const auto held = made(grammars, fields);
  EXPECT_TRUE(is_whole(*held, "no"));
  EXPECT_FALSE(is_whole(*held, "maybe"));
  fields.choices = Json::Array{1};
  EXPECT_FALSE(grammars.of(fields, {}, {}));
}

TEST(AnswerGrammars, DoNotKeepLargeSchemas) {
  AnswerGrammars grammars;
  const std::weak_ptr<const Grammar> large =
      made(grammars, choice_of(std::string(size_t{70} << 10, 'a')));
  EXPECT_TRUE(large.expired());
}

}  // namespace
}  // namespace tokamak::protocol
