#include "protocol/chat/messages.h"

#include <gtest/gtest.h>

#include "protocol/service/text_body_reader.h"

namespace tokamak::protocol {
namespace {

Answer<Json> variables(std::string_view body) {
  TOK_TRY(const TextBody asked, read_text_body(body, kChat));
  return chat_variables(asked.fields);
}

Json read(std::string_view body) {
  const auto found = variables(body);
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : Json();
}

Json json(std::string_view text) {
  return *Json::parse(text);
}

TEST(Messages, AreHandedToTheTemplateAsItReadsThem) {
  const Json found = read(R"({"messages": [
      {"role": "developer", "content": "Be brief."},
      {"role": "user", "name": "Ann", "content": [{"type": "text", "text": "One"},
                                                  {"type": "text", "text": "Two"}]},
      {"role": "assistant", "content": null, "refusal": null, "tool_calls": [
          {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}},
          {"id": "2", "type": "function", "function": {"name": "g", "arguments": "{\"a\": "}}]},
      {"role": "tool", "tool_call_id": "1", "content": "3"}]})");
  EXPECT_EQ(found, json(R"({"messages": [
      {"role": "system", "content": "Be brief."},
      {"role": "user", "content": "One\nTwo", "name": "Ann"},
      {"role": "assistant", "content": "", "tool_calls": [
          {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}},
          {"id": "2", "type": "function", "function": {"name": "g", "arguments": "{\"a\": "}}]},
      {"role": "tool", "content": "3", "tool_call_id": "1"}],
      "add_generation_prompt": true})"));
}

TEST(Messages, KeepTheirPartsWhereImagesAreAmongThem) {
  const Json found = read(R"({"messages": [{"role": "user", "content": [
      {"type": "text", "text": "One"}, {"type": "image_url", "image_url": {"url": "data:,"}},
      {"type": "text", "text": "Two"}]}]})");
  EXPECT_EQ(*found.find("messages"), json(R"([{"role": "user", "content": [
      {"type": "text", "text": "One"}, {"type": "image"}, {"type": "text", "text": "Two"}]}])"));
}

TEST(Messages, ErrorsSayWhichOne) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "messages is empty, expected at least one."},
      {"[7]", "messages[0] is an integer, expected an object."},
      {R"([{"role": "user", "content": "a"}, {"role": "robot", "content": "b"}])",
       "messages[1].role is \"robot\", expected \"system\", \"developer\", \"user\", "
       "\"assistant\" or \"tool\"."},
      {R"([{"content": "b"}])",
       "messages[0].role is missing, expected \"system\", \"developer\", \"user\", "
       "\"assistant\" or \"tool\"."},
      {R"([{"role": "user"}])", "messages[0].content is missing."},
      {R"([{"role": "user", "content": 1}])",
       "messages[0].content is an integer, expected a text or a list of parts."},
      {R"([{"role": "user", "content": [{"type": "file"}]}])",
       "messages[0].content[0] is a file without file_data; files are not stored here."},
      {R"([{"role": "user", "content": [{"type": "input_audio"}]}])",
       "messages[0].content[0] is {\"type\": \"input_audio\"}, expected a part with a text or an "
       "image."},
      {R"([{"role": "assistant", "content": [{"type": "image_url", "image_url": "data:,"}]}])",
       "messages[0].content has an image, which only messages of the user and results of tools "
       "have."},
      {R"([{"role": "user", "content": [{"type": "text"}]}])",
       "messages[0].content[0].text is missing or no text."},
      {R"([{"role": "assistant", "tool_calls": 1}])",
       "messages[0].tool_calls is an integer, expected a list."},
      {R"([{"role": "assistant", "tool_calls": [{"function": {}}]}])",
       "messages[0].tool_calls[0].function.name is missing or no text."},
      {R"([{"role": "tool", "content": "a"}])", "messages[0].tool_call_id is missing or no text."},
      {R"([{"role": "user", "content": "a", "name": 5}])",
       "messages[0].name is an integer, expected a text."},
  };
  for (const auto& [messages, expected] : cases) {
    const auto found = variables(fmt::format("{{\"messages\": {}}}", messages));
    ASSERT_FALSE(found) << messages;
    EXPECT_EQ(found.error().message, expected);
    EXPECT_EQ(found.error().param, "messages");
    EXPECT_EQ(found.error().status, 400);
  }
  EXPECT_EQ(variables("{}").error().message, "messages is missing.");
}

constexpr const char* kTool = R"({"type": "function", "function": {"name": "f"}})";

Answer<Json> with_tools(std::string_view tools, std::string_view more = {}) {
  return variables(fmt::format(
      R"({{"messages": [{{"role": "user", "content": "a"}}], "tools": {}{}}})", tools, more));
}

TEST(Messages, ToolsAreShownUnlessNoneIsChosen) {
  const std::string tools = fmt::format("[{}]", kTool);
  EXPECT_EQ(*with_tools(tools)->find("tools"), json(tools));
  EXPECT_EQ(*with_tools(tools, R"(, "tool_choice": "auto")")->find("tools"), json(tools));
  EXPECT_EQ(with_tools(tools, R"(, "tool_choice": "none")")->find("tools"), nullptr);
  EXPECT_EQ(with_tools("[]")->find("tools"), nullptr);
}

TEST(Messages, ToolsThatAreNoneAreNamed) {
  for (const std::string& tools :
       {std::string("[1]"), std::string("[{}]"),
        std::string(R"([{"type": "function", "function": {"name": "two words"}}])"),
        std::string(R"([{"type": "function", "function": {"name": "f", "parameters": 1}}])")}) {
    const auto found = with_tools(tools);
    ASSERT_FALSE(found) << tools;
    EXPECT_EQ(found.error().param, "tools");
  }
  for (const char* choice : {"\"some\"", R"({"type": "function"})",
                             R"({"type": "function", "function": {"name": "other"}})"}) {
    const auto found =
        with_tools(fmt::format("[{}]", kTool), fmt::format(", \"tool_choice\": {}", choice));
    ASSERT_FALSE(found) << choice;
    EXPECT_EQ(found.error().param, "tool_choice");
  }
  const auto none = with_tools("[]", R"(, "tool_choice": "required")");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "tool_choice is \"required\", but there are no tools.");
}

const Json& message_at(const Json& variables, size_t place) {
  return variables.find("messages")->as_array().at(place);
}

TEST(Messages, OfAnAssistantMayHaveNoContent) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("content": null)", ""},
      {R"("content": [])", ""},
      {R"("content": "")", ""},
      {R"("name": "a")", ""},
      {R"("content": null, "refusal": "No.")", "No."},
      {R"("content": "", "refusal": "No.")", "No."},
      {R"("content": "Yes.", "refusal": null)", "Yes."},
      {R"("content": [{"type": "refusal", "refusal": "No."}])", "No."},
      {R"("content": null, "tool_calls": [])", ""},
      {R"("content": null, "tool_calls": null, "function_call": null)", ""},
      {R"("content": ["One", {"type": "output_text", "text": "Two"}])", "One\nTwo"}};
  for (const auto& [members, expected] : cases) {
    const Json found =
        read(fmt::format(R"({{"messages": [{{"role": "assistant", {}}}]}})", members));
    EXPECT_EQ(*message_at(found, 0).find("content"), Json(expected)) << members;
    EXPECT_EQ(message_at(found, 0).find("tool_calls"), nullptr) << members;
  }
}

TEST(Messages, ThoughtsHaveOneNameWhateverTheyCameAs) {
  for (const char* members :
       {R"("content": null, "reasoning_content": "hm")", R"("content": "", "reasoning": "hm")",
        R"("content": "", "thinking": "hm")",
        R"("content": [{"type": "thinking", "thinking": "hm", "signature": "x"}])",
        R"("content": [{"type": "reasoning", "text": "hm"}])"}) {
    const Json found =
        read(fmt::format(R"({{"messages": [{{"role": "assistant", {}}}]}})", members));
    EXPECT_EQ(*message_at(found, 0).find("reasoning_content"), Json("hm")) << members;
  }
  const auto user = variables(
      R"({"messages": [{"role": "user", "content": [{"type": "thinking", "thinking": "hm"}]}]})");
  EXPECT_FALSE(user) << "only the model thinks";
}

TEST(Messages, ArgumentsThatSayNothingAreNone) {
  for (const char* arguments :
       {R"("")", R"(" \n")", R"("{}")", R"("[]")", R"("null")", "null", "[]", "{}", R"("{ }")"}) {
    const Json found = read(fmt::format(
        R"({{"messages": [{{"role": "assistant", "content": null, "tool_calls": [
            {{"id": "1", "function": {{"name": "f", "arguments": {}}}}}]}}]}})",
        arguments));
    const Json& call = message_at(found, 0).find("tool_calls")->as_array().at(0);
    EXPECT_EQ(*call.find("function"), json(R"({"name": "f", "arguments": {}})")) << arguments;
  }
  const Json missing = read(R"({"messages": [{"role": "assistant", "tool_calls": [
      {"id": "1", "function": {"name": "f"}}]}]})");
  EXPECT_EQ(*message_at(missing, 0).find("tool_calls")->as_array().at(0).find("function"),
            json(R"({"name": "f", "arguments": {}})"));
}

TEST(Messages, CallsFromBeforeThereWereToolsAreCalls) {
  const Json found = read(R"({"messages": [
      {"role": "assistant", "content": null,
       "function_call": {"name": "f", "arguments": "{\"a\": 1}"}},
      {"role": "function", "name": "f", "content": "2"}]})");
  EXPECT_EQ(*found.find("messages"), json(R"([
      {"role": "assistant", "content": "", "tool_calls": [{"id": "call_f", "type": "function",
          "function": {"name": "f", "arguments": {"a": 1}}}]},
      {"role": "tool", "content": "2", "name": "f", "tool_call_id": "call_f"}])"));
}

TEST(Messages, ResultsOfToolsMayHaveImagesOrNothing) {
  const Json found = read(R"({"messages": [
      {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "Here"},
          {"type": "image_url", "image_url": {"url": "data:,"}}]},
      {"role": "tool", "tool_call_id": "2", "content": null}]})");
  EXPECT_EQ(*message_at(found, 0).find("content"),
            json(R"([{"type": "text", "text": "Here"}, {"type": "image"}])"));
  EXPECT_EQ(*message_at(found, 1).find("content"), Json(""));
}

TEST(Messages, TheTemplateGetsItsOwnVariables) {
  const std::string messages = R"("messages": [{"role": "user", "content": "a"}])";
  const Json found =
      read("{" + messages + R"(, "chat_template_kwargs": {"enable_thinking": false}})");
  ASSERT_NE(found.find("enable_thinking"), nullptr);
  EXPECT_EQ(*found.find("enable_thinking"), Json(false));
  const auto hidden = variables("{" + messages + R"(, "chat_template_kwargs": {"messages": []}})");
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().param, "chat_template_kwargs");
}

}  // namespace
}  // namespace tokamak::protocol
