#include "protocol/templates/chat_form.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "protocol/chat/messages.h"
#include "protocol/service/text_body_reader.h"
#include "text/grammar/matcher.h"

namespace tokamak::protocol {
namespace {

ModelFiles files_with(std::string chat_template) {
  ModelFiles files;
  files.chat_template = std::move(chat_template);
  files.tokenizer_config = R"({"bos_token": "<s>", "eos_token": "</s>"})";
  return files;
}

ModelFiles files_of(const std::string& name) {
  std::ifstream file(TOKAMAK_TEST_DATA "/chat/" + name, std::ios::binary);
  return files_with(std::string(std::istreambuf_iterator<char>(file), {}));
}

ChatForm form_of(const ModelFiles& files) {
  return find_chat_form(files, nullptr);
}

TEST(ChatForm, CallsOfTheTemplateComeBack) {
  const std::pair<const char*, const char*> templates[] = {
      {"qwen3_tools.jinja", "hermes"}, {"llama3.jinja", "llama3"}, {"mistral.jinja", "mistral"}};
  for (const auto& [name, family] : templates) {
    const ChatForm form = form_of(files_of(name));
    EXPECT_FALSE(form.is_generic) << form.notice;
    EXPECT_EQ(form.tools->name, family);
    EXPECT_EQ(form.notice, "");
  }
}

TEST(ChatForm, ATemplateWithoutToolsGetsTheGenericForm) {
  const ChatForm form = form_of(files_of("gemma.jinja"));
  EXPECT_TRUE(form.is_generic);
  EXPECT_EQ(form.notice, "");
  const ChatForm other = form_of(
      files_with("<tool_call> \"arguments\" {% for m in messages %}{{ m.content }}{% endfor %}"));
  EXPECT_TRUE(other.is_generic) << "it shows no calls";
  EXPECT_NE(other.notice.find("\"hermes\""), std::string::npos);
}

TEST(ChatForm, ChannelsAreFoundByTheTemplateAndTheTokens) {
  const ModelFiles files = files_with(
      "{% for m in messages %}<|start|>{{ m.role }}<|channel|>final<|message|>{{ m.content "
      "}}<|end|>"
      "{% endfor %}");
  std::string added;
  uint32_t id = 0;
  for (const std::string_view mark :
       {kStartMark, kChannelMark, kMessageMark, kEndMark, kCallMark, kReturnMark, kConstrainMark}) {
    added += fmt::format(R"({}{{"id": {}, "content": "{}", "special": true}})",
                         added.empty() ? "" : ", ", ++id, mark);
  }
  const auto tokenizer = Tokenizer::from_json(
      R"({"model": {"type": "BPE", "merges": [], "vocab": {"a": 0}}, "added_tokens": [)" + added +
      "]}");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const ChatForm form = find_chat_form(files, &*tokenizer);
  EXPECT_TRUE(form.has_channels);
  EXPECT_EQ(form.tools->name, "harmony");
  EXPECT_EQ(form.marks.size(), 7u);
  EXPECT_EQ(form.end_ids, (std::vector<uint32_t>{*tokenizer->token_to_id(kCallMark),
                                                 *tokenizer->token_to_id(kReturnMark)}));
  EXPECT_FALSE(form_of(files).has_channels) << "no token is a mark";
}

TEST(ChatForm, ReasoningIsFoundInTheTemplate) {
  EXPECT_EQ(form_of(files_of("qwen3_tools.jinja")).reasoning_close, "</think>");
  EXPECT_EQ(form_of(files_of("chatml.jinja")).reasoning_close, "");
  const ChatForm hunyuan = form_of(files_with("</think> <answer></answer>"));
  EXPECT_EQ(hunyuan.answer_close, "</answer>");
  EXPECT_EQ(form_of(files_with("<answer></answer>")).answer_close, "") << "no reasoning before it";
  EXPECT_EQ(form_of(files_with("<seed:think></seed:think>")).reasoning_open, "<seed:think>");
}

Fields conversation() {
  Fields fields;
  fields.messages = *Json::parse(R"([
      {"role": "user", "content": "Where?"},
      {"role": "assistant", "content": null, "tool_calls": [
          {"id": "call_1", "function": {"name": "f", "arguments": "{\"a\": 1}"}},
          {"id": "call_2", "function": {"name": "f", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "call_1", "content": "Here."},
      {"role": "tool", "tool_call_id": "call_2", "content": "There."}])");
  fields.tools = *Json::parse(R"([{"type": "function", "function": {"name": "f"}}])");
  EXPECT_TRUE(read_chat(fields));
  return fields;
}

TEST(ChatForm, TheGenericFormDescribesToolsInWords) {
  ChatForm form = form_of(files_of("chatml.jinja"));
  const Json variables = *chat_prompt_variables(conversation(), form);
  EXPECT_EQ(variables.find("tools"), nullptr);
  const Json::Array& messages = variables.find("messages")->as_array();
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(*messages[0].find("role"), Json("system"));
  EXPECT_NE(messages[0].find("content")->as_string().find(R"({"name": "f"})"), std::string::npos);
  EXPECT_EQ(*messages[2].find("content"),
            Json("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>\n"
                 "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>"));
  EXPECT_EQ(messages[3], *Json::parse(R"({"role": "user", "content":
      "<tool_response>\nHere.\n</tool_response>\n<tool_response>\nThere.\n</tool_response>"})"));
  form.turns.has_system = false;
  const Json in_user = *chat_prompt_variables(conversation(), form);
  const std::string first = in_user.find("messages")->as_array()[0].find("content")->as_string();
  EXPECT_TRUE(first.ends_with("\n\nWhere?")) << first;
}

TEST(ChatForm, KimisIdsNameTheFunction) {
  const ChatForm form = form_of(files_of("forms/kimi.jinja"));
  const Json variables = *chat_prompt_variables(conversation(), form);
  const Json::Array& messages = variables.find("messages")->as_array();
  const Json::Array& calls = messages[1].find("tool_calls")->as_array();
  EXPECT_EQ(*calls[0].find("id"), Json("functions.f:0"));
  EXPECT_EQ(*calls[1].find("id"), Json("functions.f:1"));
  EXPECT_EQ(*messages[2].find("tool_call_id"), Json("functions.f:0"));
  EXPECT_EQ(*messages[3].find("tool_call_id"), Json("functions.f:1"));
}

TEST(ChatForm, TheNextTurnEndsAnAnswerOfGlm) {
  const auto tokenizer = Tokenizer::from_json(
      R"({"model": {"type": "BPE", "merges": [], "vocab": {"a": 0}}, "added_tokens": [
          {"id": 1, "content": "<|user|>", "special": true},
          {"id": 2, "content": "<|observation|>", "special": true}]})");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const ChatForm form = find_chat_form(files_of("forms/glm4.jinja"), &*tokenizer);
  EXPECT_EQ(form.end_ids, (std::vector<uint32_t>{1, 2}));
  EXPECT_TRUE(find_chat_form(files_of("forms/hermes.jinja"), &*tokenizer).end_ids.empty());
}

TEST(ChatForm, MistralsIdsHaveNineLetters) {
  const ChatForm form = form_of(files_of("mistral.jinja"));
  const Json variables = *chat_prompt_variables(conversation(), form);
  const Json::Array& messages = variables.find("messages")->as_array();
  const Json& first = messages[1].find("tool_calls")->as_array()[0];
  EXPECT_EQ(first.find("id")->as_string().size(), 9u);
  EXPECT_EQ(*first.find("id"), *messages[2].find("tool_call_id"));
  EXPECT_NE(*first.find("id"), *messages[3].find("tool_call_id"));
}

}  // namespace
}  // namespace tokamak::protocol
