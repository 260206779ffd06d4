// The public interface: errors, defaults, continued messages, and how a folder's template is
// chosen.
#include "text/template/chat_template.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

Json json(std::string_view text) {
  auto parsed = Json::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *std::move(parsed) : Json();
}

/// The rendered text, or "error: " and the message.
std::string render(std::string_view source, std::string_view variables,
                   const RenderOptions& options = {}) {
  const auto parsed = ChatTemplate::parse(source);
  if (!parsed) return "error: " + parsed.error().message;
  const auto rendered = parsed->render(json(variables), options);
  return rendered ? *rendered : "error: " + rendered.error().message;
}

TEST(ChatTemplate, NamesTheTemplateAndTheLine) {
  EXPECT_EQ(render("a\n{{ 1 +\n }}", "{}"),
            "error: chat_template: line 3: Found \"}}\" where an expression is expected.");
  EXPECT_EQ(
      render("a\nb\n{{ none + 1 }}", "{}"),
      "error: chat_template: line 3: unsupported operand type(s) for +: 'NoneType' and 'int'");
  const auto named = ChatTemplate::parse("{% if %}", "tool_use");
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::kInvalidInput);
  EXPECT_TRUE(named.error().message.starts_with("tool_use: line 1: ")) << named.error().message;
}

TEST(ChatTemplate, NamesTheLineInsideOfAMacro) {
  EXPECT_EQ(render("{% macro m(x) %}\n{{ x.y.z }}\n{% endmacro %}\n\n{{ m({}) }}", "{}"),
            "error: chat_template: line 2: 'dict object' has no attribute 'y'");
}

TEST(ChatTemplate, KeepsTheMessageOfRaiseException) {
  EXPECT_EQ(
      render("\n{{ raise_exception('Only \"a\": {b}\\nand c') }}", "{}"),
      "error: chat_template: line 2: The template raises an exception: Only \"a\": {b}\nand c");
}

TEST(ChatTemplate, RefusesVariablesThatAreNoObject) {
  EXPECT_EQ(render("", "[]"),
            "error: chat_template: The variables are an array where an object is expected.");
}

TEST(ChatTemplate, SetsWhatTheReferenceAlwaysSets) {
  EXPECT_EQ(render("{{ tools is none }} {{ documents is none }} {{ add_generation_prompt }} "
                   "{{ messages }} {{ bos_token is defined }}",
                   "{}"),
            "True True False [] False");
  EXPECT_EQ(render("{{ tools }}{{ x }}", R"({"tools": [1], "x": 2})"), "[1]2");
}

TEST(ChatTemplate, RendersTwiceFromTheSameState) {
  const auto parsed = ChatTemplate::parse("{{ x }}{% set x = 2 %}{{ x }}");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->render(json(R"({"x": 1})")), "12");
  EXPECT_EQ(parsed->render(json(R"({"x": 1})")), "12");
}

TEST(ChatTemplate, PrintsTheTimeGivenToIt) {
  const RenderOptions options{.unix_seconds = 1730764800};  // 2024-11-05, a Tuesday
  EXPECT_EQ(render("{{ strftime_now('%d %b %Y %-d %H:%M %A %j %%') }}", "{}", options),
            "05 Nov 2024 5 00:00 Tuesday 310 %");
  EXPECT_EQ(render("{{ strftime_now('%a %h %B %p|%c|%r|%x|%X') }}", "{}", options),
            "Tue Nov November AM|Tue Nov  5 00:00:00 2024|12:00:00 AM|11/05/24|00:00:00");
  EXPECT_EQ(render("{{ strftime_now('%Q') }}", "{}", options),
            "error: chat_template: line 1: strftime_now does not know the format \"%Q\".");
}

constexpr std::string_view kTurns =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}";
constexpr std::string_view kTrimmedTurns =
    "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</s>{% endfor %}";

TEST(ChatTemplate, ContinuesTheFinalMessage) {
  const std::string_view chat =
      R"({"continue_final_message": true, "messages":
          [{"role": "a", "content": "x"}, {"role": "b", "content": " y "}]})";
  EXPECT_EQ(render(kTurns, chat), "<a>x</s><b> y ");
  EXPECT_EQ(render(kTrimmedTurns, chat), "<a>x</s><b>y");
}

TEST(ChatTemplate, RefusesToContinueWhatCannotBeContinued) {
  EXPECT_EQ(render(kTurns, R"({"continue_final_message": true})"),
            "error: continue_final_message needs at least one message.");
  EXPECT_EQ(render(kTurns, R"({"continue_final_message": true, "messages": [{"role": "a"}]})"),
            "error: continue_final_message needs a text in the final message.");
  EXPECT_EQ(render("x", R"({"continue_final_message": true, "messages": [{"content": "a"}]})"),
            "error: continue_final_message is set, but the final message does not appear in the "
            "text the template makes.");
  EXPECT_EQ(render("x", R"({"continue_final_message": true, "add_generation_prompt": true})"),
            "error: continue_final_message and add_generation_prompt exclude each other, but both "
            "are set.");
}

TEST(ChatTemplate, RefusesTextsThatAreNotUtf8) {
  const auto broken = ChatTemplate::parse("a\xff");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "chat_template: The template is not valid UTF-8.");
  const auto parsed = ChatTemplate::parse("x");
  ASSERT_TRUE(parsed);
  Json variables;
  variables.set("bad", Json("\xc3"));
  const auto rendered = parsed->render(variables);
  ASSERT_FALSE(rendered);
  EXPECT_EQ(rendered.error().message, "variable \"bad\": A text is not valid UTF-8.");
}

std::string chosen(const Result<ChatTemplateSource>& source, bool has_tools) {
  if (!source) return "error: " + source.error().message;
  const auto found = source->choose(has_tools);
  return found ? (*found)->source : "error: " + found.error().message;
}

TEST(ChatTemplateSource, TakesTheTextOfTheConfig) {
  const auto source = read_chat_templates({.config = R"({"chat_template": "T"})"}, std::nullopt);
  EXPECT_EQ(chosen(source, false), "T");
  EXPECT_EQ(chosen(source, true), "T");
}

TEST(ChatTemplateSource, TakesTheToolTemplateOnlyWithTools) {
  const auto source =
      read_chat_templates({.config = R"({"chat_template": [{"name": "tool_use", "template": "U"},
                            {"name": "default", "template": "D"}]})"},
                          std::nullopt);
  EXPECT_EQ(chosen(source, false), "D");
  EXPECT_EQ(chosen(source, true), "U");
}

TEST(ChatTemplateSource, TakesAnObjectOfNamedTemplates) {
  const auto source = read_chat_templates(
      {.config = R"({"chat_template": {"tool_use": "U", "default": "D"}})"}, {});
  EXPECT_EQ(chosen(source, false), "D");
  EXPECT_EQ(chosen(source, true), "U");
  EXPECT_EQ(chosen(read_chat_templates({.config = R"({"chat_template": {"a": 1}})"}, {}), false),
            "error: tokenizer_config.json: \"chat_template.a\" is an integer where a string is "
            "expected.");
}

TEST(ChatTemplateSource, TakesSpecialTokensFromTheirOwnFile) {
  const auto source = read_chat_templates(
      {.config = R"({"bos_token": "<S>", "unk_token": "?"})",
       .special_tokens = R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>"})"},
      "x");
  ASSERT_TRUE(source);
  EXPECT_EQ(source->special_tokens,
            json(R"({"bos_token": "<s>", "eos_token": "</s>", "unk_token": "?"})"));
}

TEST(ChatTemplateSource, PrefersTheSideFileAndAddsNamedTemplates) {
  const auto source =
      read_chat_templates({.config = R"({"chat_template": "T"})"}, "FILE", {{"tool_use", "TOOLS"}});
  EXPECT_EQ(chosen(source, false), "FILE");
  EXPECT_EQ(chosen(source, true), "TOOLS");
  EXPECT_EQ(chosen(read_chat_templates({}, "FILE"), false), "FILE");
}

TEST(ChatTemplateSource, ReportsWhatIsThereInsteadOfADefault) {
  EXPECT_EQ(chosen(read_chat_templates({.config = "{}"}, std::nullopt), false),
            "error: The model has no chat template.");
  const auto source = read_chat_templates(
      {.config = R"({"chat_template": [{"name": "rag", "template": "R"}]})"}, std::nullopt);
  EXPECT_EQ(chosen(source, true),
            "error: The model has no chat template named \"default\", but \"rag\".");
}

TEST(ChatTemplateSource, RefusesOtherShapes) {
  EXPECT_EQ(chosen(read_chat_templates({.config = R"({"chat_template": 5})"}, std::nullopt), false),
            "error: tokenizer_config.json: \"chat_template\" is an integer where a string, an "
            "array or an object is expected.");
  EXPECT_EQ(
      chosen(read_chat_templates({.config = R"({"chat_template": [{"name": "a"}]})"}, std::nullopt),
             false),
      "error: tokenizer_config.json: \"chat_template[0]\" needs \"name\" and \"template\" as "
      "strings.");
  EXPECT_EQ(
      chosen(read_chat_templates({.config = R"({"chat_template": [{"name": "a", "template": ""},
                                             {"name": "a", "template": ""}]})"},
                                 std::nullopt),
             false),
      "error: tokenizer_config.json: Two chat templates are named \"a\".");
  EXPECT_FALSE(read_chat_templates({.config = "{"}, std::nullopt));
}

TEST(ChatTemplateSource, GivesTheSpecialTokensAsVariables) {
  const auto source = read_chat_templates(
      {.config = R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}, "unk_token": null,
          "add_bos_token": true})"},
      "x");
  ASSERT_TRUE(source);
  EXPECT_EQ(source->special_tokens, json(R"({"bos_token": "<s>", "eos_token": "</s>"})"));
  EXPECT_EQ(with_special_tokens(json(R"({"bos_token": "mine"})"), *source),
            json(R"({"bos_token": "mine", "eos_token": "</s>"})"));
}

}  // namespace
}  // namespace tokamak
