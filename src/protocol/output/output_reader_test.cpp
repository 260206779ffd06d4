#include "protocol/output/output_reader.h"

#include <gtest/gtest.h>

namespace tokamak::protocol {
namespace {

/// The output, with pieces of one kind joined.
struct Read {
  std::string reasoning, content;
  std::vector<ToolCall> calls;
  bool operator==(const Read&) const = default;
};

void add(Read& all, const OutputParts& parts) {
  using Kind = OutputPart::Kind;
  for (const OutputPart& part : parts) {
    switch (part.kind) {
      case Kind::kReasoning:
        all.reasoning += part.text;
        break;
      case Kind::kContent:
        all.content += part.text;
        break;
      case Kind::kCallBegin:
        all.calls.push_back({part.text, ""});
        break;
      case Kind::kCallArguments:
        all.calls.back().arguments += part.text;
        break;
      case Kind::kCallEnd:
      case Kind::kCallCut:
        break;
    }
  }
}

void PrintTo(const Read& read, std::ostream* out) {
  *out << "reasoning \"" << read.reasoning << "\", content \"" << read.content << "\"";
  for (const ToolCall& call : read.calls) *out << ", " << call.name << " " << call.arguments;
}

/// The text cut at every place, and in pieces of every size.
void expect_in_any_pieces(const OutputFormat& form, std::string_view text, const Read& expected) {
  const auto check = [&](const std::vector<std::string_view>& pieces) {
    OutputReader reader(form);
    Read all;
    for (const std::string_view piece : pieces) add(all, reader.push(piece));
    add(all, reader.finish());
    EXPECT_EQ(all, expected) << text << " in " << pieces.size() << " pieces, the first "
                             << pieces[0];
  };
  for (size_t at = 0; at <= text.size(); ++at) check({text.substr(0, at), text.substr(at)});
  for (size_t size = 1; size <= text.size(); ++size) {
    std::vector<std::string_view> pieces;
    for (size_t i = 0; i < text.size(); i += size) pieces.push_back(text.substr(i, size));
    check(pieces);
  }
}

const Json& tools() {
  static const Json kTools = *Json::parse(R"([
      {"type": "function", "function": {"name": "f", "parameters": {"type": "object",
       "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}}},
      {"type": "function", "function": {"name": "g"}}])");
  return kTools;
}

OutputFormat form_of(std::string_view family) {
  OutputFormat form;
  for (const ToolFamily& one : tool_families()) {
    if (one.name == family) form.tools = &one;
  }
  EXPECT_EQ(form.tools == nullptr, family.empty()) << family;
  form.tool_list = tools();
  form.reasoning_open = "<think>";
  form.reasoning_close = "</think>";
  return form;
}

TEST(OutputReader, TextWithoutMarksStaysAsItIs) {
  for (const ToolFamily& family : tool_families()) {
    const std::string text = " a < b, and <tool_box> [TOOL] {x} ";
    expect_in_any_pieces(form_of(family.name), text, {"", text, {}});
  }
  const std::string call = "<tool_call>{\"name\": \"f\"}</tool_call>";
  expect_in_any_pieces(form_of(""), call, {"", call, {}});
}

TEST(OutputReader, EveryFamilyWritesCallsItsOwnWay) {
  const ToolCall f = {"f", R"({"a": "it's", "n": 42})"};
  const struct {
    const char* family;
    const char* text;
    Read expected;
  } cases[] = {
      {"hermes",
       "Yes.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"it's\", \"n\": 42}}\n"
       "</tool_call>\n<tool_call>\n{\"name\": \"g\"}\n</tool_call>\n",
       {"", "Yes.\n", {f, {"g", "{}"}}}},
      {"qwen3-coder",
       "<tool_call>\n<function=f>\n<parameter=a>\nit's\n</parameter>\n<parameter=n>\n42\n"
       "</parameter>\n</function>\n</tool_call>",
       {"", "", {f}}},
      {"llama3",
       "\n{\"name\": \"f\", \"parameters\": {\"a\": \"it's\", \"n\": 42}}",
       {"", "", {f}}},
      {"llama3", "<|python_tag|>f.call(a=\"it's\", n=42)", {"", "", {f}}},
      {"mistral",
       "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": \"it's\", \"n\": 42}, \"id\": "
       "\"123456789\"}, {\"name\": \"g\"}]",
       {"", "", {f, {"g", "{}"}}}},
      {"mistral",
       "[TOOL_CALLS]f[CALL_ID]123456789[ARGS]{\"a\": \"it's\", \"n\": 42}[TOOL_CALLS]g[ARGS]{}",
       {"", "", {f, {"g", "{}"}}}},
      {"deepseek",
       "Yes. <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": \"it's\", \"n\": 42}"
       "<｜tool▁call▁end｜><｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
       "<｜tool▁calls▁end｜>",
       {"", "Yes. ", {f, {"g", "{}"}}}},
      {"deepseek",
       "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n"
       "{\"a\": \"it's\", \"n\": 42}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       {"", "", {f}}},
      {"glm4",
       "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>it's</arg_value>\n<arg_key>n</arg_key>\n"
       "<arg_value>42</arg_value>\n</tool_call>\n<tool_call>g</tool_call>",
       {"", "", {f, {"g", "{}"}}}},
      {"glm4",
       "<tool_call>f<arg_key>a</arg_key><arg_value>\n</arg_value> it's\n</arg_value></tool_call>",
       {"", "", {{"f", R"({"a": "\n</arg_value> it's\n"})"}}}},
      {"nemotron",
       "<TOOLCALL>[{'name': 'f', 'arguments': {'a': 'it\\'s', 'n': 42}}, {\"name\": \"g\"}]"
       "</TOOLCALL>",
       {"", "", {f, {"g", "{}"}}}},
      {"kimi",
       "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0 <|tool_call_argument_begin|> "
       "{\"a\": \"it's\", \"n\": 42} <|tool_call_end|>\n<|tool_call_begin|>g:1"
       "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
       {"", "", {f, {"g", "{}"}}}},
      {"seed",
       "<seed:tool_call>\n<function=f>\n<parameter=a>it's</parameter>\n<parameter=n>42"
       "</parameter>\n</function>\n</seed:tool_call>",
       {"", "", {f}}},
      {"minimax",
       "<minimax:tool_call>\n<invoke name=\"f\">\n<parameter name=\"a\">it's</parameter>\n"
       "<parameter name=\"n\">42</parameter>\n</invoke>\n<invoke name=\"g\">\n</invoke>\n"
       "</minimax:tool_call>",
       {"", "", {f, {"g", "{}"}}}},
      {"hunyuan",
       "<tool_calls>\n<tool_call>f\n```json\n{\"a\": \"it's\", \"n\": 42}\n```\n</tool_call>\n"
       "<tool_call>g\n```json\n{}\n```\n</tool_call>\n</tool_calls>",
       {"", "", {f, {"g", "{}"}}}},
      {"command",
       "<|START_ACTION|>[\n{\"tool_call_id\": \"0\", \"tool_name\": \"f\", \"parameters\": "
       "{\"a\": \"it's\", \"n\": 42}}\n]<|END_ACTION|>",
       {"", "", {f}}},
      {"apertus",
       "<|tools_prefix|>[{\"f\": {\"a\": \"it's\", \"n\": 42}}, {\"g\": {}}]<|tools_suffix|>",
       {"", "", {f, {"g", "{}"}}}},
      {"olmo3",
       "<function_calls>f(a=\"it's\", n=42)\ng()</function_calls>",
       {"", "", {f, {"g", "{}"}}}},
      {"gemma4",
       "<|tool_call>call:f{a:<|\"|>it's<|\"|>,n:42}<tool_call|><|tool_call>call:g{}<tool_call|>",
       {"", "", {f, {"g", "{}"}}}},
      {"gemma4",
       "<|tool_call>call:f{l:[1.5,<|\"|>x\\<|\"|>],o:{deep:true,no:null}}<tool_call|>",
       {"", "", {{"f", R"({"l": [1.5, "x\\"], "o": {"deep": true, "no": null}})"}}}},
      {"functiongemma",
       "<start_function_call>call:f{a:<escape>it's<escape>,n:42}<end_function_call>",
       {"", "", {f}}},
      {"lfm2",
       "<|tool_call_start|>[f(a='it\\'s', n=42), g()]<|tool_call_end|>Done.",
       {"", "Done.", {f, {"g", "{}"}}}},
      {"lfm2",
       "<|tool_call_start|>[f(a=\"\\u00e9\\n\", l=[True, None, (1, -2e3)], o={'k': False})]"
       "<|tool_call_end|>",
       {"",
        "",
        {{"f", "{\"a\": \"é\\n\", \"l\": [true, null, [1, -2000]], \"o\": {\"k\": false}}"}}}},
  };
  for (const auto& [family, text, expected] : cases) {
    SCOPED_TRACE(family);
    expect_in_any_pieces(form_of(family), text, expected);
  }
}

TEST(OutputReader, WhatIsNoCallIsContent) {
  const std::pair<const char*, const char*> cases[] = {
      {"hermes", "<tool_call>{\"name\": }</tool_call> end"},
      {"hermes", "<tool_call>{\"arguments\": {}}</tool_call>"},
      {"hermes", "<tool_call>{\"name\": \"f\", \"arguments\": [1]}</tool_call>"},
      {"hermes", "<tool_call>{\"name\": \"f"},
      {"qwen3-coder", "<tool_call><function=f><parameter=a>1</function></tool_call>"},
      {"llama3", "{\"name\": 1}"},
      {"llama3", "{\"name\": \"f\", \"parameters\""},
      {"llama3", "{\"name\": \"unknown\", \"parameters\": {}}"},
      {"llama3", " {"},
      {"llama3", "See: {\"name\": \"f\", \"parameters\": {}}"},
      {"glm4", "<tool_call>{\"name\": \"f\"}</tool_call>"},
      {"glm4", "<tool_call>f<arg_key>a</arg_key>1</tool_call>"},
      {"minimax", "<minimax:tool_call><invoke name=\"f\">a</invoke></minimax:tool_call>"},
      {"hunyuan", "<tool_calls><tool_call>f</tool_call></tool_calls>"},
      {"kimi", "<|tool_calls_section_begin|>f<|tool_calls_section_end|>"},
      {"dsml", "<｜DSML｜function_calls><｜DSML｜invoke name=\"f\"></｜DSML｜function_calls>"},
      {"nemotron", "<TOOLCALL>{\"name\": \"f\"} and</TOOLCALL>"},
      {"apertus", "<|tools_prefix|>[{\"f\": 1}]<|tools_suffix|>"},
      {"mistral", "[TOOL_CALLS][{\"arguments\": {}}]"},
      {"mistral", "[TOOL_CALLS]f[ARGS]{\"a\": "},
      {"deepseek", "<｜tool▁calls▁begin｜>f<｜tool▁calls▁end｜>"},
      {"gemma4", "<|tool_call>call:f{a:<|\"|>b}<tool_call|>"},
      {"functiongemma", "<start_function_call>f{}<end_function_call>"},
      {"lfm2", "<|tool_call_start|>[f(a=b)]<|tool_call_end|>"},
      {"lfm2", "<|tool_call_start|>[f(a='b]<|tool_call_end|>"},
  };
  for (const auto& [family, text] : cases) {
    SCOPED_TRACE(family);
    expect_in_any_pieces(form_of(family), text, {"", text, {}});
  }
}

TEST(OutputReader, ACallWhoseEndIsMissingIsOne) {
  expect_in_any_pieces(form_of("hermes"), "<tool_call>{\"name\": \"f\", \"arguments\": {}}",
                       {"", "", {{"f", "{}"}}});
}

TEST(OutputReader, ArgumentsOfAHeldCallComeAsTheyAreWritten) {
  const std::string arguments = R"({"a": "}\" </tool_call>", "n":  [{}]})";
  OutputFormat form = form_of("hermes");
  form.holds_calls = true;
  const std::string call =
      "<tool_call>\n{\"name\": \"f\", \"arguments\": " + arguments + "}\n</tool_call>";
  expect_in_any_pieces(form, "So: " + call + "\n" + call + " done",
                       {"", "So: done", {{"f", arguments}, {"f", arguments}}});
  const std::string whole = "\n{\"name\": \"f\", \"parameters\": " + arguments + "}";
  OutputFormat llama = form_of("llama3");
  llama.holds_calls = true;
  expect_in_any_pieces(llama, whole, {"", "", {{"f", arguments}}});
  expect_in_any_pieces(llama, "{\"name\": 1}", {"", "{\"name\": 1}", {}});
}

TEST(OutputReader, AConstrainedCallIsStreamed) {
  OutputFormat form = form_of("hermes");
  form.holds_calls = true;
  OutputReader reader(form);
  using Kind = OutputPart::Kind;
  EXPECT_EQ(reader.push_mark("<tool_call>"), OutputParts{});
  EXPECT_EQ(reader.push("\n{\"name\": \"f\", \"argum"), OutputParts{});
  EXPECT_EQ(reader.push("ents\": {\"a\""),
            (OutputParts{{Kind::kCallBegin, "f"}, {Kind::kCallArguments, "{\"a\""}}));
  EXPECT_EQ(reader.push(": 1"), (OutputParts{{Kind::kCallArguments, ": 1"}}));
  OutputReader cut = reader;
  EXPECT_EQ(cut.finish(true), (OutputParts{{Kind::kCallCut, ""}})) << "as far as it goes";
  EXPECT_EQ(reader.push("}}\n"), (OutputParts{{Kind::kCallArguments, "}"}, {Kind::kCallEnd, ""}}));
  EXPECT_EQ(reader.push_mark("</tool_call>"), OutputParts{});
  EXPECT_EQ(reader.push("\nBye."), (OutputParts{{Kind::kContent, "Bye."}}));
}

TEST(OutputReader, ACallThatIsCutBeforeItsArgumentsIsLost) {
  const auto cut = [](const OutputFormat& form, std::string_view text) {
    OutputReader reader(form);
    OutputParts parts = reader.push(text);
    for (OutputPart& part : reader.finish(true)) parts.push_back(std::move(part));
    return parts;
  };
  OutputFormat form = form_of("hermes");
  const std::string begun = "<tool_call>\n{\"name\": \"get_weat";
  EXPECT_EQ(cut(form, begun), (OutputParts{{OutputPart::Kind::kContent, begun}}))
      << "a text may speak of the mark";
  form.holds_calls = true;
  EXPECT_EQ(cut(form, begun), OutputParts{});
  EXPECT_EQ(cut(form, "<tool_ca"), (OutputParts{{OutputPart::Kind::kContent, "<tool_ca"}}));
  form.demands_calls = true;
  for (size_t bytes = 0; bytes <= begun.size(); ++bytes) {
    EXPECT_EQ(cut(form, begun.substr(0, bytes)), OutputParts{}) << bytes;
  }
  OutputFormat whole = form_of("llama3");
  whole.holds_calls = whole.demands_calls = true;
  EXPECT_EQ(cut(whole, R"({"name": "f)"), OutputParts{});
  OutputFormat token = form_of("qwen3-coder");
  token.token_marks = {"<tool_call>"};
  OutputReader reader(token);
  EXPECT_EQ(reader.push_mark("<tool_call>"), OutputParts{});
  EXPECT_EQ(reader.push("<function=f><parameter=a>it"), OutputParts{});
  EXPECT_EQ(reader.finish(true), OutputParts{});
}

TEST(OutputReader, ReasoningComesBeforeTheContent) {
  OutputFormat form = form_of("hermes");
  expect_in_any_pieces(form, "<think>\nwhy\n\nnot \n</think>\n\nYes <think>.",
                       {"why\n\nnot", "Yes <think>.", {}});
  expect_in_any_pieces(form, "<think></think><tool_call>{\"name\": \"g\"}</tool_call>",
                       {"", "", {{"g", "{}"}}});
  expect_in_any_pieces(form, "<think>a <tool_call> is not called",
                       {"a <tool_call> is not called", "", {}});
  form.starts_in_reasoning = true;
  expect_in_any_pieces(form, "\nwhy\n</think>\nYes.", {"why", "Yes.", {}});
  expect_in_any_pieces(form, "why", {"why", "", {}});
  OutputFormat whole = form_of("llama3");
  whole.starts_in_reasoning = true;
  expect_in_any_pieces(whole, "why</think>{\"name\": \"g\"}", {"why", "", {{"g", "{}"}}});
  form.reasoning_open = form.reasoning_close = "";
  form.starts_in_reasoning = false;
  expect_in_any_pieces(form, "<think>why</think>", {"", "<think>why</think>", {}});
}

TEST(OutputReader, ReasoningThatIsKeptHasItsMarks) {
  OutputFormat form = form_of("hermes");
  form.reasoning_open = form.reasoning_close = "";
  form.keeps_reasoning = true;
  form.token_marks = {"<think>", "</think>", "<tool_call>", "</tool_call>"};
  OutputReader reader(form);
  Read all;
  add(all, reader.push_mark("<think>"));
  add(all, reader.push("why"));
  add(all, reader.push_mark("</think>"));
  add(all, reader.push("Yes."));
  add(all, reader.push_mark("<tool_call>"));
  add(all, reader.push(R"({"name": "g"})"));
  add(all, reader.push_mark("</tool_call>"));
  add(all, reader.finish());
  EXPECT_EQ(all, (Read{"", "<think>why</think>Yes.", {{"g", "{}"}}}));
}

TEST(OutputReader, MarksAroundTheAnswerAreNoPartOfIt) {
  OutputFormat form = form_of("hermes");
  form.answer_open = "<answer>";
  form.answer_close = "</answer>";
  expect_in_any_pieces(form, "<think>\nwhy\n</think>\n<answer>\nYes <b>.</answer>",
                       {"why", "Yes <b>.", {}});
  expect_in_any_pieces(form, "<answer>Yes.</answer>\n", {"", "Yes.", {}});
  expect_in_any_pieces(form, "Say <answer>.</answer>", {"", "Say <answer>.</answer>", {}});
}

TEST(OutputReader, AMarkThatIsATokenIsNotReadFromText) {
  OutputFormat form = form_of("gemma4");
  form.token_marks = {"<|tool_call>", "<tool_call|>", "<|\"|>", "<think>", "</think>"};
  OutputReader reader(form);
  Read all;
  add(all, reader.push_mark("<think>"));
  EXPECT_TRUE(reader.is_reasoning());
  add(all, reader.push("a </think> b"));
  add(all, reader.push_mark("</think>"));
  EXPECT_FALSE(reader.is_reasoning());
  add(all, reader.push("Type <|tool_call>call:f{}<tool_call|>. "));
  add(all, reader.push_mark("<|\"|>"));
  add(all, reader.push_mark("<|tool_call>"));
  add(all, reader.push("call:f{a:"));
  add(all, reader.push_mark("<|\"|>"));
  add(all, reader.push("<tool_call|>"));
  add(all, reader.push_mark("<|\"|>"));
  add(all, reader.push("}"));
  add(all, reader.push_mark("<tool_call|>"));
  add(all, reader.finish());
  EXPECT_EQ(all, (Read{"a </think> b",
                       "Type <|tool_call>call:f{}<tool_call|>. ",
                       {{"f", R"({"a": "<tool_call|>"})"}}}));
}

TEST(OutputReader, ATokenMayBePartOfALongerMark) {
  OutputFormat form = form_of("dsml");
  form.token_marks = {"｜DSML｜", "<think>", "</think>"};
  OutputReader reader(form);
  Read all;
  const std::string_view text =
      "So. <｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n<｜DSML｜parameter name=\"a\" "
      "string=\"true\">42</｜DSML｜parameter>\n<｜DSML｜parameter name=\"n\" string=\"false\">42"
      "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>";
  for (size_t at = 0; at < text.size();) {
    const std::string_view mark = form.token_marks[0];
    if (text.substr(at).starts_with(mark)) {
      add(all, reader.push_mark(mark));
      at += mark.size();
    } else {
      add(all, reader.push(text.substr(at++, 1)));
    }
  }
  add(all, reader.finish());
  EXPECT_EQ(all, (Read{"", "So. ", {{"f", R"({"a": "42", "n": 42})"}}}));
}

TEST(OutputReader, TheTemplateSaysWhichFamily) {
  const auto name = [](std::string_view text) {
    const ToolFamily* family = tool_family_of(text);
    return family == nullptr ? std::string_view("none") : family->name;
  };
  EXPECT_EQ(name("<tool_call>\n{\"name\": ..., \"arguments\": ...}\n</tool_call>"), "hermes");
  EXPECT_EQ(name("<tool_call><function=f> \"arguments\""), "qwen3-coder");
  EXPECT_EQ(name("<tool_call>{{ name }}<arg_key> \"arguments\""), "glm4");
  EXPECT_EQ(name("<|start|>assistant<|channel|>final<|message|>"), "harmony");
  EXPECT_EQ(name("Environment: ipython ... \"parameters\": "), "llama3");
  EXPECT_EQ(name("[AVAILABLE_TOOLS] [TOOL_CALLS]"), "mistral");
  EXPECT_EQ(name("<|tool_call|>[{"), "granite3");
  EXPECT_EQ(name("<|tool_call>call:"), "gemma4");
  EXPECT_EQ(name("{{ messages[0].content }}"), "none");
}

}  // namespace
}  // namespace tokamak::protocol
