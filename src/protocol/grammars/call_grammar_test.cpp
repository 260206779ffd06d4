#include "protocol/grammars/call_grammar.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "protocol/grammars/open_texts.h"
#include "text/grammar/matcher.h"

namespace tokamak::protocol {
namespace {

enum class Fit : uint8_t { kNo, kBeginning, kWhole };

Fit fit(const Grammar& grammar, std::string_view text) {
  GrammarMatcher matcher(grammar);
  if (!matcher.allows(text)) return Fit::kNo;
  matcher.push(text);
  return matcher.may_end() ? Fit::kWhole : Fit::kBeginning;
}

TEST(OpenTexts, EndWithTheFirstMark) {
  const Grammar text = text_up_to("</think>");
  EXPECT_EQ(fit(text, "a << b </th <</think>"), Fit::kWhole);
  EXPECT_EQ(fit(text, "a << b </th"), Fit::kBeginning);
  EXPECT_EQ(fit(text, "</think> "), Fit::kNo);
  EXPECT_EQ(fit(text_up_to("aab"), "aaab"), Fit::kWhole) << "a mark that overlaps itself";
}

TEST(OpenTexts, HaveNoMark) {
  const Grammar text = text_without("<tool_call>");
  EXPECT_EQ(fit(text, ""), Fit::kWhole);
  EXPECT_EQ(fit(text, "<<tool_cal> <tool_call <"), Fit::kWhole);
  EXPECT_EQ(fit(text, "a <tool_call>"), Fit::kNo);
  EXPECT_EQ(fit(text, "<<tool_call>"), Fit::kNo);
}

TEST(OpenTexts, BeginOtherwise) {
  const Grammar text = text_not_starting_with(kWholeCallStarts);
  for (const char* other :
       {"", "Hello", "{", R"({"name")", R"({"names": 1})", R"( {"a": {"name": "f"}})",
        R"({"type": "object", "name": "x"})", R"([{"name": "f"}])"}) {
    EXPECT_EQ(fit(text, other), Fit::kWhole) << other;
  }
  for (const char* call : {R"({"name": ")", R"( {
  "name" : "f"})",
                           R"({"type": "function", "name": "f")"}) {
    EXPECT_EQ(fit(text, call), Fit::kNo) << call;
  }
}

/// f takes {"n": true}, g_2 takes any object.
std::vector<ConstrainedFunction> functions() {
  auto schema = Grammar::from_json_schema(
      R"({"properties": {"n": {"const": true}}, "required": ["n"], "additionalProperties": false, "type": "object"})");
  return {{"f", *std::move(schema)}, {"g_2", Grammar::json_object()}};
}

const ToolFamily& family(std::string_view name) {
  return *std::ranges::find(tool_families(), name, &ToolFamily::name);
}

std::string call(const ToolFamily& family, std::string_view name, std::string_view arguments) {
  const std::string json =
      fmt::format(R"({{"name": "{}", "{}": {}}})", name, family.arguments_key, arguments);
  return family.close.empty() ? json : fmt::format("{}\n{}\n{}", family.open, json, family.close);
}

TEST(CallGrammar, ConstrainsAnAnswerToCalls) {
  for (const ToolFamily& own : tool_families()) {
    if (own.arguments_key.empty()) continue;
    OutputFormat form;
    form.tools = &own;
    const Grammar any = *demanded_calls(form, functions(), false);
    EXPECT_EQ(fit(any, call(own, "f", R"({"n": true})")), Fit::kWhole);
    EXPECT_EQ(fit(any, call(own, "g_2", R"({"a": [1, "x"]})")), Fit::kWhole);
    for (const std::string& wrong : {call(own, "h", "{}"), call(own, "f", "{}"),
                                     call(own, "g_2", "1"), std::string("Hello")}) {
      EXPECT_EQ(fit(any, wrong), Fit::kNo) << wrong;
    }
    const std::string two = call(own, "g_2", "{}") + "\n" + call(own, "g_2", "{}");
    EXPECT_EQ(fit(any, two), own.has_one_call ? Fit::kNo : Fit::kWhole);
    EXPECT_EQ(fit(*demanded_calls(form, functions(), true), two), Fit::kNo);
    form.reasoning_close = "</think>";
    form.starts_in_reasoning = true;
    EXPECT_EQ(
        fit(*demanded_calls(form, functions(), true), "So.</think>\n\n" + call(own, "g_2", "{}")),
        Fit::kWhole);
  }
}

TEST(CallGrammar, AllowsEverythingElse) {
  OutputFormat form;
  for (const char* name : {"hermes", "llama3"}) {
    form.tools = &family(name);
    const Grammar text = *calls_in_text(form, functions());
    for (const char* said : {"", "Hello <<world> \xE2", "{\"a\": 1}", "<tool_cal"}) {
      EXPECT_EQ(fit(text, said), Fit::kWhole) << name << ": " << said;
    }
  }
}

TEST(CallGrammar, ConstrainsACallThatTheModelBegins) {
  OutputFormat form;
  for (const char* name : {"hermes", "llama3"}) {
    form.tools = &family(name);
    const Grammar text = *calls_in_text(form, functions());
    const bool is_alone = form.tools->is_whole_message;
    const std::string lead = is_alone ? "\n" : "Let me see. ";
    EXPECT_EQ(fit(text, lead + call(*form.tools, "f", R"({"n": true})")), Fit::kWhole) << name;
    EXPECT_EQ(fit(text, lead + call(*form.tools, "f", R"({"n": 1)")), Fit::kNo) << name;
    EXPECT_EQ(fit(text, lead + call(*form.tools, "other", "{}")), Fit::kNo) << name;
    EXPECT_EQ(fit(text, lead + std::string(is_alone ? "" : "<tool_call>\n") + R"({"name": ")"),
              Fit::kBeginning)
        << name << ": it may not end within a call";
    const std::string two =
        call(*form.tools, "g_2", "{}") + " and " + call(*form.tools, "f", R"({"n": true})");
    EXPECT_EQ(fit(text, two), is_alone ? Fit::kNo : Fit::kWhole) << name;
  }
}

TEST(CallGrammar, LeavesReasoningAlone) {
  OutputFormat form;
  form.tools = &family("hermes");
  form.reasoning_open = "<think>";
  form.reasoning_close = "</think>";
  constexpr std::string_view kTold = "I say <tool_call> x</think> Yes.";
  EXPECT_EQ(fit(*calls_in_text(form, functions()), fmt::format("\n<think>{}", kTold)), Fit::kWhole);
  EXPECT_EQ(fit(*calls_in_text(form, functions()), kTold), Fit::kNo);
  form.starts_in_reasoning = true;
  EXPECT_EQ(fit(*calls_in_text(form, functions()), kTold), Fit::kWhole);
  EXPECT_EQ(fit(*calls_in_text(form, functions()), "</think><tool_call> x"), Fit::kNo);
}

}  // namespace
}  // namespace tokamak::protocol
