#include "protocol/output/channels.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "protocol/grammars/channel_grammar.h"
#include "text/grammar/matcher.h"
#include "text/grammar/token_bytes.h"

namespace tokamak::protocol {
namespace {

using Kind = OutputPart::Kind;

OutputFormat form_of(bool has_tools) {
  OutputFormat form;
  form.has_channels = true;
  if (has_tools) {
    form.tools = &*std::ranges::find(tool_families(), "harmony", &ToolFamily::name);
    form.tool_list = *Json::parse(R"([{"type": "function", "function": {"name": "f"}}])");
  }
  return form;
}

void join(OutputParts& all, OutputParts parts) {
  for (OutputPart& part : parts) {
    const bool continues = !all.empty() && all.back().kind == part.kind && !part.text.empty();
    if (continues) {
      all.back().text += part.text;
    } else {
      all.push_back(std::move(part));
    }
  }
}

/// The parts of a text whose marks are tokens, whatever the size of the pieces between them.
OutputParts read(const OutputFormat& form, std::string_view text, bool is_cut = false) {
  ChannelReader whole(form);
  OutputParts expected;
  join(expected, whole.push_spelled(text));
  join(expected, whole.finish(is_cut));
  for (const size_t size : {1u, 3u}) {
    ChannelReader reader(form);
    OutputParts all;
    std::string_view rest = text;
    while (!rest.empty()) {
      const bool is_mark = rest.starts_with("<|");
      const size_t end =
          is_mark ? rest.find("|>") + 2 : std::min({size, rest.find("<|"), rest.size()});
      const std::string_view piece = rest.substr(0, end);
      join(all, is_mark ? reader.push_mark(piece) : reader.push(piece));
      rest.remove_prefix(end);
    }
    join(all, reader.finish(is_cut));
    EXPECT_EQ(all, expected) << "in pieces of " << size;
  }
  return expected;
}

TEST(Channels, AnalysisIsReasoningAndFinalIsContent) {
  const std::string text =
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>analysis<|message|>So."
      "<|end|><|start|>assistant<|channel|>final<|message|> Yes < no.\n<|return|>";
  for (const bool has_tools : {false, true}) {
    EXPECT_EQ(read(form_of(has_tools), text),
              (OutputParts{{Kind::kReasoning, "Hm.\nSo."}, {Kind::kContent, " Yes < no.\n"}}));
  }
  EXPECT_EQ(read(form_of(false), "<|channel|>final <|constrain|>json<|message|>{}"),
            (OutputParts{{Kind::kContent, "{}"}}));
}

TEST(Channels, AMessageToAFunctionIsACall) {
  const OutputParts call = {
      {Kind::kCallBegin, "f"}, {Kind::kCallArguments, R"({"a": 1})"}, {Kind::kCallEnd, ""}};
  for (const char* header :
       {"<|channel|>commentary to=functions.f <|constrain|>json",
        " to=functions.f<|channel|>commentary json", " to=f<|channel|>commentary",
        "<|channel|>analysis to=functions.f code",
        "<|start|>assistant<|channel|>commentary to=functions.f"}) {
    for (const char* end : {"<|call|>", "<|end|>", ""}) {
      const std::string text = fmt::format(R"({}<|message|>{{"a": 1}}{})", header, end);
      EXPECT_EQ(read(form_of(true), text), call) << text;
      const bool is_thought = text.find("analysis") != std::string::npos;
      const Kind kind = is_thought ? Kind::kReasoning : Kind::kContent;
      EXPECT_EQ(read(form_of(false), text), (OutputParts{{kind, R"({"a": 1})"}})) << "no tools";
    }
  }
}

TEST(Channels, APreambleOfACallIsContent) {
  EXPECT_EQ(read(form_of(true),
                 "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>"
                 "commentary to=functions.f <|constrain|>json<|message|><|call|>"),
            (OutputParts{{Kind::kContent, "I look."},
                         {Kind::kCallBegin, "f"},
                         {Kind::kCallArguments, "{}"},
                         {Kind::kCallEnd, ""}}));
}

TEST(Channels, ACallThatIsCutIsNoContent) {
  const std::string header = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>";
  OutputFormat form = form_of(true);
  EXPECT_EQ(read(form, header + R"({"a": "so)", true), OutputParts{});
  EXPECT_EQ(read(form, header + R"({"a": so}<|call|>)"),
            (OutputParts{{Kind::kContent, R"({"a": so})"}}))
      << "what does not parse is content";
  form.holds_calls = form.demands_calls = true;
  EXPECT_EQ(
      read(form, header + R"({"a": "so)", true),
      (OutputParts{
          {Kind::kCallBegin, "f"}, {Kind::kCallArguments, R"({"a": "so)"}, {Kind::kCallCut, ""}}));
  EXPECT_EQ(read(form, "<|channel|>commentary to=functions.f", true), OutputParts{});
}

TEST(Channels, AnAnswerWithoutMarksIsContent) {
  EXPECT_EQ(read(form_of(true), " to Paris."), (OutputParts{{Kind::kContent, " to Paris."}}));
}

TEST(Channels, ReasoningThatIsKeptStaysInTheContent) {
  OutputFormat form = form_of(false);
  form.keeps_reasoning = true;
  EXPECT_EQ(read(form,
                 "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final"
                 "<|message|>Yes."),
            (OutputParts{{Kind::kContent, "<|channel|>analysis<|message|>Hm.<|end|>\nYes."}}));
}

TEST(Channels, ThePromptMayHaveBegunTheMessage) {
  OutputFormat form = form_of(true);
  form.opened = "<|channel|>final<|message|>";
  EXPECT_EQ(read(form, "Yes."), (OutputParts{{Kind::kContent, "Yes."}}));
  form.opened = "<|channel|>";
  EXPECT_EQ(read(form, "analysis<|message|>Hm."), (OutputParts{{Kind::kReasoning, "Hm."}}));
}

enum class Fit : uint8_t { kNo, kBeginning, kWhole };

/// How a text in which marks are spelled fits.
Fit fit(const Answer<Grammar>& grammar, std::string_view text) {
  EXPECT_TRUE(grammar) << grammar.error().message;
  std::string bytes(text);
  for (size_t at = 0; (at = bytes.find("<|", at)) != std::string::npos; at += 3) {
    bytes.insert(at, 1, kSpecialMark);
  }
  GrammarMatcher matcher(*grammar);
  if (!matcher.allows(bytes)) return Fit::kNo;
  matcher.push(bytes);
  return matcher.may_end() ? Fit::kWhole : Fit::kBeginning;
}

constexpr const char* kThought = "<|channel|>analysis<|message|>Hm < {.<|end|><|start|>assistant";
constexpr const char* kHeader = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>";

std::vector<ConstrainedFunction> functions() {
  return {{"f", *Grammar::from_json_schema(R"({"const": {"a": 1}})")}};
}

TEST(ChannelGrammar, ConstrainsTheBodyOfTheFinalMessage) {
  OutputFormat form = form_of(false);
  const auto held = final_message(form, *Grammar::from_json_schema(R"({"const": 42})"));
  const std::string thought = kThought;
  EXPECT_EQ(fit(held, "<|channel|>final<|message|>42"), Fit::kWhole);
  EXPECT_EQ(fit(held, thought + "<|channel|>final <|constrain|>json<|message|>42"), Fit::kWhole);
  EXPECT_EQ(fit(held, thought + "<|channel|>final<|message|>41"), Fit::kNo);
  EXPECT_EQ(fit(held, "42"), Fit::kNo);
  EXPECT_EQ(fit(held, "<|channel|>analysis<|message|>Hm.<|call|>"), Fit::kNo) << "another mark";
  form.opened = "<|channel|>final<|message|>";
  EXPECT_EQ(fit(final_message(form, Grammar::json_object()), "{}"), Fit::kWhole);
}

TEST(ChannelGrammar, ConstrainsAnAnswerToACall) {
  const auto held = demanded_channel_call(form_of(true), functions());
  const std::string thought = kThought;
  EXPECT_EQ(fit(held, std::string(kHeader) + R"({"a": 1})"), Fit::kWhole);
  EXPECT_EQ(fit(held, thought + " to=functions.f<|channel|>commentary json<|message|>{\"a\": 1}"),
            Fit::kWhole);
  EXPECT_EQ(fit(held, std::string(kHeader) + R"({"a": 2})"), Fit::kNo);
  EXPECT_EQ(fit(held, thought + "<|channel|>final"), Fit::kNo);
  EXPECT_EQ(fit(held, thought), Fit::kBeginning);
}

TEST(ChannelGrammar, ConstrainsCallsAmongOtherMessages) {
  const auto held = calls_in_channels(form_of(true), functions());
  const std::string thought = kThought;
  EXPECT_EQ(fit(held, thought + thought + "<|channel|>final<|message|>Yes."), Fit::kWhole);
  EXPECT_EQ(fit(held, thought + kHeader + R"({"a": 1})"), Fit::kWhole);
  EXPECT_EQ(fit(held, thought + kHeader + R"({"b")"), Fit::kNo);
  EXPECT_EQ(fit(held, "<|channel|>commentary to=functions.g"), Fit::kNo);
}

}  // namespace
}  // namespace tokamak::protocol
