#include "openai/messages.h"

#include <gtest/gtest.h>

namespace tokamak::openai {
namespace {

Answer<Json> variables(std::string_view body) {
  TOK_TRY(const Fields fields, read_fields(body, kChat));
  return chat_variables(fields);
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
       "messages[0].content[0] is {\"type\": \"file\"}, expected a part of the type \"text\" or "
       "\"image_url\"."},
      {R"([{"role": "assistant", "content": [{"type": "image_url"}]}])",
       "messages[0].content[0] is an image, which only messages of the user have."},
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
  const std::string many = [] {
    std::string all = kTool;
    for (int i = 0; i < 128; ++i) all += std::string(", ") + kTool;
    return "[" + all + "]";
  }();
  for (const std::string& tools :
       {std::string("[1]"), std::string(R"([{"type": "web_search"}])"), many,
        std::string(R"([{"type": "function", "function": {"name": "two words"}}])"),
        std::string(R"([{"type": "function", "function": {"name": "f", "parameters": 1}}])")}) {
    const auto found = with_tools(tools);
    ASSERT_FALSE(found) << tools;
    EXPECT_EQ(found.error().param, "tools");
  }
  for (const char* choice : {"\"any\"", R"({"type": "function"})",
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
}  // namespace tokamak::openai
