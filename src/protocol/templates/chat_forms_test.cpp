// Every form of calls and reasoning: what a template of the family renders is read back as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "protocol/templates/call_ids.h"
#include "protocol/templates/chat_form.h"

namespace tokamak::protocol {
namespace {

/// A template of tests/data/chat/forms, and what its family has.
struct Row {
  const char* name;
  const char* family;
  const char* end;  // of an assistant's turn
  bool has_reasoning = true, has_content = true;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

constexpr Row kRows[] = {
    {"hermes", "hermes", "<|im_end|>"},
    {"ernie", "hermes", "<|im_end|>"},
    {"qwen3-coder", "qwen3-coder", "<|im_end|>"},
    {"glm4", "glm4", "<|user|>"},
    {"glm4-7", "glm4", "<|user|>"},
    {"seed", "seed", "<seed:eos>"},
    {"minimax", "minimax", "[e~["},
    {"dsml", "dsml", "<｜end▁of▁sentence｜>"},
    {"dsml-v4", "dsml-v4", "<｜end▁of▁sentence｜>"},
    {"hunyuan", "hunyuan", "<｜hy_eos｜>"},
    {"command", "command", "<|END_OF_TURN_TOKEN|>", true, false},
    {"apertus", "apertus", "<|assistant_end|>"},
    {"olmo3", "olmo3", "<|im_end|>"},
    {"lfm2", "lfm2", "<|im_end|>"},
    {"gemma4", "gemma4", "<turn|>"},
    {"functiongemma", "functiongemma", "<end_of_turn>", false},
    {"deepseek", "deepseek", "<｜end▁of▁sentence｜>"},
    {"deepseek-r1", "deepseek", "<｜end▁of▁sentence｜>"},
    {"kimi", "kimi", "<|im_end|>"},
    {"nemotron", "nemotron", "\n<SPECIAL_12>"},
    {"phi4", "phi4", "<|end|>", false},
    {"granite3", "granite3", "<|end_of_text|>"},
    {"tool-calls", "tool-calls", "<end_of_sentence>"},
    {"mistral", "mistral", "</s>"},
    {"llama3", "llama3", "<|eot_id|>", false, false},
    {"harmony", "harmony", ""},
};

/// A tokenizer in which the marks of channels are tokens.
const Tokenizer& channel_tokenizer() {
  static const Tokenizer kTokenizer = [] {
    std::string added;
    uint32_t id = 0;
    for (const std::string_view mark : {kStartMark, kChannelMark, kMessageMark, kEndMark, kCallMark,
                                        kReturnMark, kConstrainMark}) {
      added += fmt::format(R"({}{{"id": {}, "content": "{}", "special": true}})",
                           added.empty() ? "" : ", ", ++id, mark);
    }
    return *Tokenizer::from_json(
        R"({"model": {"type": "BPE", "merges": [], "vocab": {"a": 0}}, "added_tokens": [)" + added +
        "]}");
  }();
  return kTokenizer;
}

/// A question, and an answer with reasoning, a text and two calls, of which one has no arguments.
Json conversation(const Row& row, bool has_one_call) {
  Json out = *Json::parse(R"({"tools": [
    {"type": "function", "function": {"name": "lookup_place", "parameters": {"type": "object",
     "properties": {"text": {"type": "string"}, "zip": {"type": "string"},
       "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "unit": {"enum": ["1", "2"]},
       "count": {"type": "integer"}, "ratio": {"type": "number"}, "flag": {"type": "boolean"},
       "none": {"type": ["object", "null"]}, "options": {"type": "object"},
       "list": {"type": "array"}}}}},
    {"type": "function", "function": {"name": "get-time", "parameters": {"type": "object"}}}],
  "messages": [{"role": "user", "content": "Where?"},
    {"role": "assistant", "tool_calls": [
      {"id": "call00001", "type": "function", "function": {"name": "lookup_place", "arguments": {
        "text": "\n He \"said\":\n\tit's <b>\\é 日本</b>, {x}: [1,\n", "zip": "00123", "note": "42",
        "unit": "2", "count": -42, "ratio": 2.5, "flag": true, "none": null,
        "options": {"deep": [1, {"a": "b", "no": false}], "empty": {}}, "list": ["x", "", null]}}},
      {"id": "call00002", "type": "function",
       "function": {"name": "get-time", "arguments": {}}}]}]})");
  Json& answer = out.find("messages")->as_array()[1];
  answer.set("content", row.has_content ? "I look < at it." : "");
  if (row.has_reasoning) answer.set("reasoning_content", "Two steps:\none <and> two.");
  if (has_one_call) answer.find("tool_calls")->as_array().pop_back();
  return out;
}

struct Read {
  std::string reasoning, content;
  std::vector<ToolCall> calls;
};

void add(Read& all, const OutputParts& parts) {
  using Kind = OutputPart::Kind;
  for (const OutputPart& part : parts) {
    if (part.kind == Kind::kReasoning) all.reasoning += part.text;
    if (part.kind == Kind::kContent) all.content += part.text;
    if (part.kind == Kind::kCallBegin) all.calls.push_back({part.text, ""});
    if (part.kind == Kind::kCallArguments) all.calls.back().arguments += part.text;
  }
}

std::string trimmed_end(std::string text) {
  text.resize(text.find_last_not_of(" \n") + 1);
  return text;
}

/// Reads pieces that end after `cut` bytes and then every `size` bytes; tokens come whole.
Read read(const OutputFormat& form, std::string_view text, size_t cut, size_t size) {
  OutputReader reader(form);
  Read all;
  size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const auto mark = std::ranges::find_if(
        form.token_marks, [&](const std::string& one) { return rest.starts_with(one); });
    if (mark != form.token_marks.end()) {
      add(all, reader.push_mark(*mark));
      at += mark->size();
      continue;
    }
    size_t end = at < cut ? cut : at + size;
    for (const std::string& one : form.token_marks) end = std::min(end, text.find(one, at));
    add(all, reader.push(text.substr(at, end - at)));
    at = std::min(end, text.size());
  }
  add(all, reader.finish());
  return all;
}

void expect_same(const Read& read, const Json& answer, std::string_view where) {
  const Json* reasoning = answer.find("reasoning_content");
  EXPECT_EQ(read.reasoning, reasoning == nullptr ? "" : reasoning->as_string()) << where;
  EXPECT_EQ(trimmed_end(read.content), answer.find("content")->as_string()) << where;
  const Json::Array& calls = answer.find("tool_calls")->as_array();
  ASSERT_EQ(read.calls.size(), calls.size()) << where;
  for (size_t i = 0; i < calls.size(); ++i) {
    const Json& function = *calls[i].find("function");
    EXPECT_EQ(Json(read.calls[i].name), *function.find("name")) << where;
    const auto arguments = Json::parse(read.calls[i].arguments);
    ASSERT_TRUE(arguments) << where;
    EXPECT_EQ(arguments->dump(), function.find("arguments")->dump()) << where;
  }
}

class ChatForms : public testing::TestWithParam<Row> {};

TEST_P(ChatForms, WhatATemplateRendersIsReadBack) {
  const Row& row = GetParam();
  std::ifstream file(fmt::format(TOKAMAK_TEST_DATA "/chat/forms/{}.jinja", row.name),
                     std::ios::binary);
  ModelFiles files;
  files.chat_template = std::string(std::istreambuf_iterator<char>(file), {});
  files.tokenizer_config = "{}";
  const bool has_channels = std::string_view(row.name) == "harmony";
  const ChatForm chat = find_chat_form(files, has_channels ? &channel_tokenizer() : nullptr);
  ASSERT_FALSE(chat.is_generic) << chat.notice;
  ASSERT_EQ(chat.tools->name, row.family);

  Json whole = conversation(row, chat.tools->has_one_call);
  const Json answer = whole.find("messages")->as_array()[1];
  fit_call_ids(*chat.tools, whole);
  Json question = whole;
  question.find("messages")->as_array().pop_back();
  question.set("add_generation_prompt", true);
  const std::string prompt = *render_chat(files, question);
  std::string text = *render_chat(files, whole);
  ASSERT_TRUE(text.starts_with(prompt)) << prompt;
  text.erase(0, prompt.size());
  text.resize(std::min(text.size(), *row.end == '\0' ? text.size() : text.rfind(row.end)));

  OutputFormat form = answer_form(chat, prompt, false);
  form.tools = chat.tools;
  form.tool_list = *whole.find("tools");
  for (const TokenMark& mark : chat.marks) form.token_marks.push_back(mark.text);
  for (size_t at = 0; at <= text.size() && !HasFailure(); ++at) {
    expect_same(read(form, text, at, text.size()), answer,
                fmt::format("cut at {} of {}", at, text));
  }
  for (size_t size = 1; size <= 64 && !HasFailure(); ++size) {
    expect_same(read(form, text, 0, size), answer, fmt::format("in pieces of {}", size));
  }
}

std::string name_of(const testing::TestParamInfo<Row>& one) {
  std::string name = one.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Templates, ChatForms, testing::ValuesIn(kRows), name_of);

}  // namespace
}  // namespace tokamak::protocol
