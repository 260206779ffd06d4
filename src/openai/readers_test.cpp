#include "openai/readers.h"

#include <gtest/gtest.h>

namespace tokamak::openai {
namespace {

Fields read(std::string_view body, Endpoint endpoint) {
  const auto found = read_text_body(body, endpoint);
  EXPECT_TRUE(found) << found.error().message;
  return found ? found->fields : Fields();
}

std::string error_of(std::string_view body, Endpoint endpoint) {
  const auto found = read_text_body(body, endpoint);
  return found ? "no error" : found.error().message;
}

Json json(std::string_view text) {
  return *Json::parse(text);
}

const Json& conversation() {
  static const Json kConversation = json(R"([
      {"role": "system", "content": "Be brief."},
      {"role": "user", "content": "One\nTwo"},
      {"role": "assistant", "content": "Well.", "tool_calls": [{"id": "call_0", "type": "function",
          "function": {"name": "f", "arguments": {"a": 1}}}]},
      {"role": "tool", "content": "3", "tool_call_id": "call_0"},
      {"role": "user", "content": "Thanks."}])");
  return kConversation;
}

const Json& tools() {
  static const Json kTools = json(R"([{"type": "function", "function": {"name": "f",
      "description": "Does it.", "parameters": {"type": "object"}}}])");
  return kTools;
}

/// Arguments as an object, whether or not they came as a text; members in one order.
Json normal(const Json& messages) {
  Json::Array out;
  for (const Json& message : messages.as_array()) {
    Json one;
    for (const char* name : {"role", "content", "tool_call_id"}) {
      if (const Json* value = message.find(name)) one.set(name, *value);
    }
    if (const Json* calls = message.find("tool_calls")) {
      Json function = *calls->as_array()[0].find("function");
      Json* arguments = function.find("arguments");
      if (arguments->is_string()) *arguments = json(arguments->as_string());
      one.set("id", *calls->as_array()[0].find("id")).set("function", std::move(function));
    }
    out.push_back(std::move(one));
  }
  return out;
}

TEST(Readers, TheSameConversationIsTheSameInEveryProtocol) {
  const std::pair<Endpoint, const char*> cases[] = {
      {kResponses, R"({"instructions": "Be brief.", "input": [
          {"role": "user", "content": [{"type": "input_text", "text": "One"},
                                       {"type": "input_text", "text": "Two"}]},
          {"type": "reasoning", "summary": []},
          {"type": "message", "role": "assistant",
           "content": [{"type": "output_text", "text": "Well."}]},
          {"type": "function_call", "call_id": "call_0", "name": "f", "arguments": "{\"a\": 1}"},
          {"type": "function_call_output", "call_id": "call_0", "output": "3"},
          {"role": "user", "content": "Thanks."}], "max_output_tokens": 7,
          "tools": [{"type": "function", "name": "f", "description": "Does it.",
                     "parameters": {"type": "object"}}]})"},
      {kMessages, R"({"system": [{"type": "text", "text": "Be brief."}], "messages": [
          {"role": "user", "content": [{"type": "text", "text": "One"},
                                       {"type": "text", "text": "Two"}]},
          {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"},
              {"type": "text", "text": "Well."},
              {"type": "tool_use", "id": "call_0", "name": "f", "input": {"a": 1}}]},
          {"role": "user", "content": [
              {"type": "tool_result", "tool_use_id": "call_0",
               "content": [{"type": "text", "text": "3"}]},
              {"type": "text", "text": "Thanks."}]}], "max_tokens": 7,
          "tools": [{"name": "f", "description": "Does it.",
                     "input_schema": {"type": "object"}}]})"},
      {kOllamaChat, R"({"messages": [
          {"role": "system", "content": "Be brief."}, {"role": "user", "content": "One\nTwo"},
          {"role": "assistant", "content": "Well.", "thinking": "hm",
           "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
          {"role": "tool", "tool_name": "f", "content": "3"},
          {"role": "user", "content": "Thanks."}], "options": {"num_predict": 7},
          "tools": [{"type": "function", "function": {"name": "f", "description": "Does it.",
                     "parameters": {"type": "object"}}}]})"},
  };
  for (const auto& [endpoint, body] : cases) {
    const Fields found = read(body, endpoint);
    EXPECT_EQ(normal(found.messages), normal(conversation())) << body;
    EXPECT_EQ(found.tools, tools()) << body;
    EXPECT_EQ(found.max_tokens, 7) << body;
  }
}

TEST(Readers, ToolChoicesAreTranslated) {
  const std::string messages =
      R"({"max_tokens": 1, "messages": [{"role": "user", "content": "a"}],)";
  const auto choice = [&](std::string_view text) {
    return read(fmt::format(R"({} "tool_choice": {}}})", messages, text), kMessages);
  };
  EXPECT_EQ(choice(R"({"type": "any"})").tool_choice, Json("required"));
  EXPECT_EQ(choice(R"({"type": "none"})").tool_choice, Json("none"));
  EXPECT_EQ(choice(R"({"type": "tool", "name": "f"})").tool_choice,
            json(R"({"type": "function", "function": {"name": "f"}})"));
  EXPECT_EQ(choice(R"({"type": "auto", "disable_parallel_tool_use": true})").parallel_tool_calls,
            false);
  EXPECT_EQ(read(R"({"input": "a", "tool_choice": {"type": "function", "name": "f"}})", kResponses)
                .tool_choice,
            json(R"({"type": "function", "function": {"name": "f"}})"));
}

TEST(Readers, OllamaStreamsUnlessItIsToldNotTo) {
  const std::string chat = R"({"messages": [{"role": "user", "content": "a"}])";
  EXPECT_EQ(read(chat + "}", kOllamaChat).stream, true);
  EXPECT_EQ(read(chat + R"(, "stream": false})", kOllamaChat).stream, false);
  EXPECT_EQ(read(chat + R"(, "options": {"num_predict": -1}})", kOllamaChat).max_tokens,
            std::nullopt);
  EXPECT_EQ(read(chat + R"(, "format": "json"})", kOllamaChat).response_format,
            json(R"({"type": "json_object"})"));
  EXPECT_EQ(read(chat + R"(, "think": false})", kOllamaChat).chat_template_kwargs,
            json(R"({"enable_thinking": false})"));
  EXPECT_TRUE(read_text_body("{}", kOllamaChat)->only_loads);
  EXPECT_TRUE(read_text_body("{}", kOllamaGenerate)->only_loads);
  const auto raw = read_text_body(R"({"prompt": "a", "raw": true})", kOllamaGenerate);
  EXPECT_FALSE(raw->is_chat);
  const auto plain = read_text_body(R"({"prompt": "a", "system": "b"})", kOllamaGenerate);
  EXPECT_EQ(plain->fields.messages, json(R"([{"role": "system", "content": "b"},
                                             {"role": "user", "content": "a"}])"));
}

TEST(Readers, ErrorsSayWhichPart) {
  const struct {
    Endpoint endpoint;
    const char* body;
    const char* message;
  } cases[] = {
      {kResponses, "{}", "input is missing."},
      {kResponses, R"({"input": "a", "previous_response_id": "resp_1"})",
       "previous_response_id is \"resp_1\", but nothing is stored here: send the whole "
       "conversation as input."},
      {kResponses, R"({"input": [{"type": "web"}]})",
       "input[0] is {\"type\": \"web\"}, expected the type \"message\", \"function_call\", "
       "\"function_call_output\" or \"reasoning\"."},
      {kResponses, R"({"input": [{"role": "user", "content": [{"type": "input_image"}]}]})",
       "input[0].content[0].image_url is missing or no text; files are not stored here."},
      {kResponses, R"({"input": [{"role": "user", "content": [{"type": "input_audio"}]}]})",
       "input[0].content[0] is {\"type\": \"input_audio\"}, expected a part of the type "
       "\"input_text\"."},
      {kResponses, R"({"input": [{"type": "function_call", "name": "f"}]})",
       "input[0].call_id is missing or no text."},
      {kResponses, R"({"input": "a", "tools": [{"type": "web_search"}]})",
       "tools[0] is {\"type\": \"web_search\"}, expected the type \"function\"."},
      {kMessages, R"({"messages": [{"role": "user", "content": "a"}]})", "max_tokens is missing."},
      {kCountTokens, R"({"messages": []})", "messages is empty, expected at least one."},
      {kMessages, R"({"max_tokens": 1, "messages": [{"role": "system", "content": "a"}]})",
       "messages[0].role is \"system\", expected \"user\" or \"assistant\"."},
      {kMessages, R"({"max_tokens": 1, "messages": [{"role": "user", "content": [7]}]})",
       "messages[0].content[0] is 7, expected a block of the type \"text\", \"image\", "
       "\"tool_use\" or \"tool_result\"."},
      {kMessages,
       R"({"max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "image"}]}]})",
       "messages[0].content[0].source is missing, expected the type \"base64\", with media_type "
       "and data."},
      {kMessages, R"({"max_tokens": 1, "messages": [7]})",
       "messages[0].role is missing or no text."},
      {kOllamaChat, R"({"messages": [{"role": "user", "content": "a", "images": [7]}]})",
       "messages[0].images[0] is 7, expected an image in base64."},
      {kOllamaChat, R"({"messages": [], "options": {"temperature": 5}})",
       "temperature is 5, expected a number from 0 to 2."},
      {kOllamaGenerate, R"({"prompt": "a", "format": "xml"})",
       "format is \"xml\", expected json or a JSON Schema."},
  };
  for (const auto& [endpoint, body, message] : cases) EXPECT_EQ(error_of(body, endpoint), message);
}

}  // namespace
}  // namespace tokamak::openai
