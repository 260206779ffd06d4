#include "protocol/service/text_body_reader.h"

#include <gtest/gtest.h>

namespace tokamak::protocol {
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
          "function": {"name": "f", "arguments": {"a": 1}}}], "reasoning_content": "hm"},
      {"role": "tool", "content": "3", "tool_call_id": "call_0"},
      {"role": "user", "content": "Thanks."}])");
  return kConversation;
}

const Json& tools() {
  static const Json kTools = json(R"([{"type": "function", "function": {"name": "f",
      "description": "Does it.", "parameters": {"type": "object"}}}])");
  return kTools;
}

/// Members in one order.
Json normal(const Json& messages) {
  Json::Array out;
  for (const Json& message : messages.as_array()) {
    Json one;
    for (const char* name : {"role", "content", "tool_call_id", "reasoning_content"}) {
      if (const Json* value = message.find(name)) one.set(name, *value);
    }
    if (const Json* calls = message.find("tool_calls")) {
      const Json& call = calls->as_array()[0];
      one.set("id", *call.find("id")).set("function", *call.find("function"));
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
          {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}],
           "encrypted_content": "x"},
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

TEST(Readers, WhatCodexSendsIsRead) {
  const Fields found = read(R"({"instructions": "Be kind.", "store": false, "stream": true,
      "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "service_tier": "auto",
      "client_metadata": {"a": "b"}, "text": {"verbosity": "low"}, "parallel_tool_calls": false,
      "reasoning": {"effort": "medium", "summary": "auto"}, "tool_choice": "auto",
      "tools": [
        {"type": "function", "name": "shell", "description": "Runs.", "strict": false,
         "parameters": {"type": "object", "properties": {"command": {"type": "array",
             "items": {"type": "string"}}}, "required": ["command"]}},
        {"type": "custom", "name": "apply_patch", "description": "Edits.",
         "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"}},
        {"type": "namespace", "name": "mcp__files__", "description": "Files.", "tools": [
          {"type": "function", "name": "read", "parameters": {"type": "object"}}]},
        {"type": "web_search", "external_web_access": true}, {"type": "image_generation"},
        {"type": "local_shell"}, {"type": "tool_search"}, {"type": "of_later_days", "name": "x"}],
      "input": [
        {"type": "message", "role": "developer",
         "content": [{"type": "input_text", "text": "Be short."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go"}]},
        {"type": "reasoning", "summary": [], "content": null, "encrypted_content": "gAAA"},
        {"type": "custom_tool_call", "call_id": "1", "name": "apply_patch", "status": "completed",
         "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "1", "output": "ok"},
        {"type": "web_search_call", "action": {"type": "search", "query": "x"}},
        {"type": "local_shell_call", "call_id": "2", "status": "completed",
         "action": {"type": "exec", "command": ["ls"]}},
        {"type": "local_shell_call_output", "call_id": "2", "output": "a"},
        {"type": "function_call", "call_id": "3", "name": "read", "namespace": "mcp__files__",
         "arguments": ""},
        {"type": "function_call_output", "call_id": "3",
         "output": [{"type": "input_text", "text": "b"}]},
        {"type": "compaction", "encrypted_content": "gAAA"}]})",
                            kResponses);
  EXPECT_EQ(found.messages, json(R"([
      {"role": "system", "content": "Be kind."}, {"role": "system", "content": "Be short."},
      {"role": "user", "content": "Go"},
      {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function",
          "function": {"name": "apply_patch", "arguments": {"input": "*** Begin"}}}]},
      {"role": "tool", "content": "ok", "tool_call_id": "1"},
      {"role": "assistant", "content": "", "tool_calls": [{"id": "2", "type": "function",
          "function": {"name": "local_shell", "arguments": {"type": "exec", "command": ["ls"]}}}]},
      {"role": "tool", "content": "a", "tool_call_id": "2"},
      {"role": "assistant", "content": "", "tool_calls": [{"id": "3", "type": "function",
          "function": {"name": "mcp__files__read", "arguments": {}}}]},
      {"role": "tool", "content": "b", "tool_call_id": "3"}])"));
  ASSERT_EQ(found.tools.as_array().size(), 3u);
  const Json& custom = *found.tools.as_array()[1].find("function");
  EXPECT_EQ(*custom.find("name"), Json("apply_patch"));
  EXPECT_EQ(*custom.find("description"),
            Json("Edits.\nThe input is a text of this grammar:\nstart: x"));
  EXPECT_EQ(*custom.find("parameters")->find("required"), json(R"(["input"])"));
  EXPECT_EQ(*found.tools.as_array()[2].find("function")->find("name"), Json("mcp__files__read"));
  EXPECT_EQ(found.call_shapes, json(R"({"apply_patch": {"type": "custom"},
      "mcp__files__read": {"namespace": "mcp__files__", "name": "read"}})"));
  EXPECT_EQ(found.reasoning_effort, "medium");
}

TEST(Readers, WhatClaudeCodeSendsIsRead) {
  const Fields found = read(R"({"max_tokens": 32000, "stream": true, "metadata": {"user_id": "u"},
      "thinking": {"type": "enabled", "budget_tokens": 31999}, "context_management": {"edits": []},
      "output_config": {"effort": "high"},
      "system": [{"type": "text", "text": "One", "cache_control": {"type": "ephemeral"}},
                 {"type": "text", "text": "Two"}],
      "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Go"}]},
        {"role": "assistant", "content": [
          {"type": "thinking", "thinking": "hm", "signature": ""},
          {"type": "redacted_thinking", "data": "x"},
          {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}},
          {"type": "tool_use", "id": "t2", "name": "Read", "input": []}]},
        {"role": "user", "content": [
          {"type": "tool_result", "tool_use_id": "t1", "content": [
            {"type": "text", "text": "a"},
            {"type": "document", "title": "b", "source": {"type": "text", "media_type": "text/plain",
             "data": "c"}},
            {"type": "search_result", "title": "d", "source": "e",
             "content": [{"type": "text", "text": "f"}]}]},
          {"type": "tool_result", "tool_use_id": "t2", "is_error": true},
          {"type": "text", "text": "<system-reminder>g</system-reminder>",
           "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": [
          {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "h"}},
          {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"title": "i"}]},
          {"type": "text", "text": "j"}]},
        {"role": "system", "content": "k"}],
      "tools": [{"name": "Read", "description": "Reads.", "input_schema": {"type": "object"},
                 "cache_control": {"type": "ephemeral"}},
                {"type": "bash_20250124", "name": "bash"},
                {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]})",
                            kMessages);
  EXPECT_EQ(found.messages, json(R"([
      {"role": "system", "content": "One\nTwo"}, {"role": "user", "content": "Go"},
      {"role": "assistant", "content": "", "tool_calls": [
          {"id": "t1", "type": "function", "function": {"name": "Read", "arguments": {"path": "a"}}},
          {"id": "t2", "type": "function", "function": {"name": "Read", "arguments": {}}}],
       "reasoning_content": "hm"},
      {"role": "tool", "content": "a\nb\nc\nd\ne\nf", "tool_call_id": "t1"},
      {"role": "tool", "content": "Error", "tool_call_id": "t2"},
      {"role": "user", "content": "<system-reminder>g</system-reminder>"},
      {"role": "assistant", "content": "", "tool_calls": [{"id": "s1", "type": "function",
          "function": {"name": "web_search", "arguments": {"query": "h"}}}]},
      {"role": "tool", "content": "[{\"title\": \"i\"}]", "tool_call_id": "s1"},
      {"role": "assistant", "content": "j"}, {"role": "system", "content": "k"}])"));
  ASSERT_EQ(found.tools.as_array().size(), 2u);
  EXPECT_EQ(found.tools.as_array()[0],
            json(R"({"type": "function", "function": {"name": "Read", "description": "Reads.",
                     "parameters": {"type": "object"}}})"));
  EXPECT_EQ(*found.tools.as_array()[1].find("function")->find("name"), Json("bash"));
  EXPECT_EQ(found.reasoning_effort, "high");
  EXPECT_EQ(found.enable_thinking, true);
}

TEST(Readers, AnthropicsSchemaIsTheFormOfTheAnswer) {
  const std::string format = R"({"type": "json_schema", "schema": {"type": "object"}})";
  for (const std::string& field :
       {"\"output_config\": {\"effort\": \"low\", \"format\": " + format + "}",
        "\"output_format\": " + format}) {
    const Fields found =
        read("{\"max_tokens\": 1, \"messages\": [{\"role\": \"user\", \"content\": \"a\"}], " +
                 field + "}",
             kMessages);
    EXPECT_EQ(found.response_format,
              json(R"({"type": "json_schema", "json_schema": {"schema": {"type": "object"}}})"));
  }
}

Fields with_effort(std::string_view members, Endpoint endpoint = kChat) {
  return read(
      fmt::format(R"({{"max_tokens": 9, "messages": [{{"role": "user", "content": "a"}}], {}}})",
                  members),
      endpoint);
}

TEST(Readers, EffortsHaveOneFieldWhateverTheyCameAs) {
  const std::pair<const char*, Endpoint> cases[] = {
      {R"("reasoning_effort": "low")", kChat},
      {R"("reasoning": {"effort": "low"})", kChat},
      {R"("thinking": {"type": "enabled", "budget_tokens": 1024})", kMessages},
      {R"("output_config": {"effort": "low"}, "thinking": {"type": "adaptive"})", kMessages},
      {R"("think": "low")", kOllamaChat}};
  for (const auto& [members, endpoint] : cases) {
    EXPECT_EQ(with_effort(members, endpoint).reasoning_effort, "low") << members;
  }
  for (const char* members : {R"("reasoning_effort": null)", R"("reasoning_effort": "default")",
                              R"("reasoning": {"effort": null}, "thinking": [])"}) {
    EXPECT_EQ(with_effort(members).reasoning_effort, std::nullopt) << members;
  }
  EXPECT_EQ(with_effort(R"("thinking": {"type": "disabled"})", kMessages).enable_thinking, false);
  EXPECT_EQ(with_effort(R"("enable_thinking": false)").enable_thinking, false);
  EXPECT_EQ(with_effort(R"("think": true)", kOllamaChat).enable_thinking, true);
  EXPECT_EQ(
      error_of(R"({"messages": [{"role": "user", "content": "a"}],
                         "reasoning_effort": "much"})",
               kChat),
      "reasoning_effort is \"much\", expected none, minimal, low, medium, high, xhigh or max.");
}

TEST(Readers, ToolsOfOtherProtocolsAreToolsInEach) {
  const Json expected = json(R"([{"type": "function", "function": {"name": "f",
      "parameters": {"type": "object", "properties": {}}}}])");
  for (const char* tool : {R"({"type": "function", "function": {"name": "f", "parameters": []}})",
                           R"({"function": {"name": "f", "parameters": {}}})",
                           R"({"type": "function", "name": "f", "parameters": []})",
                           R"({"name": "f", "input_schema": []})",
                           R"({"type": "function", "function": {"name": "f",
            "parameters": {"type": "object", "properties": []}}})"}) {
    EXPECT_EQ(with_effort(fmt::format(R"("tools": [{}])", tool)).tools, expected) << tool;
  }
  const std::string name(128, 'a');
  std::string many;
  for (int i = 0; i < 300; ++i) {
    many += fmt::format(R"({}{{"name": "f{}_{}", "input_schema": {{"type": "object"}}}})",
                        i == 0 ? "" : ", ", i, name.substr(0, 120));
  }
  EXPECT_EQ(with_effort(fmt::format(R"("tools": [{}])", many), kMessages).tools.as_array().size(),
            300u);
}

TEST(Readers, ToolsThatAreAllowedAreTheOnlyOnes) {
  const std::string tools =
      R"("tools": [{"type": "function", "name": "f"}, {"type": "function", "name": "g"},
                   {"type": "web_search"}], "tool_choice": )";
  for (const char* choice : {R"({"type": "allowed_tools", "mode": "required",
            "tools": [{"type": "function", "name": "g"}, {"type": "web_search"}]})",
                             R"({"type": "allowed_tools", "allowed_tools": {"mode": "required",
            "tools": [{"type": "function", "function": {"name": "g"}}]}})"}) {
    const Fields found = with_effort(tools + choice);
    EXPECT_EQ(found.tools, json(R"([{"type": "function", "function": {"name": "g"}}])")) << choice;
    EXPECT_EQ(found.tool_choice, Json("required"));
  }
  EXPECT_EQ(with_effort(tools + "[]").tool_choice, Json());
  EXPECT_EQ(with_effort(tools + "\"any\"").tool_choice, Json("required"));
  const std::string hosted =
      R"({"messages": [{"role": "user", "content": "a"}], )" + tools + R"({"type": "web_search"}})";
  EXPECT_EQ(error_of(hosted, kChat),
            "tool_choice is {\"type\": \"web_search\"}, but this server runs no tools itself, and "
            "the model calls functions only.");
}

TEST(Readers, ASchemaThatIsWrongIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type": "hiccup"})",
       "tools[0].function.parameters.type is \"hiccup\", expected \"null\", \"boolean\", "
       "\"object\", "
       "\"array\", \"number\", \"string\", \"integer\" or a list of those."},
      {R"({"type": "object", "properties": {"a": {"type": "any"}}})",
       "tools[0].function.parameters.properties.a.type is \"any\", expected \"null\", \"boolean\", "
       "\"object\", \"array\", \"number\", \"string\", \"integer\" or a list of those."},
      {R"({"type": "object", "required": "a"})",
       "tools[0].function.parameters.required is \"a\", expected a list of names."},
      {R"({"type": "object", "properties": ["a"]})",
       "tools[0].function.parameters.properties is [\"a\"], expected an object of schemas."},
      {R"({"type": "string"})",
       "tools[0].function.parameters.type is \"string\", expected \"object\": arguments are one."},
      {"7", "tools[0].function.parameters is an integer, expected a JSON Schema."}};
  for (const auto& [schema, message] : cases) {
    EXPECT_EQ(error_of(fmt::format(R"({{"messages": [{{"role": "user", "content": "a"}}], "tools": [
                         {{"type": "function", "function": {{"name": "f", "parameters": {}}}}}]}})",
                                   schema),
                       kChat),
              message);
  }
  const Json held = json(R"({"type": "object", "properties": {"a": {"type": ["string", "null"],
      "const": "[]", "default": []}}, "required": [], "$defs": {"b": true}})");
  EXPECT_EQ(
      *with_effort(fmt::format(R"("tools": [{{"name": "f", "parameters": {}}}])", held.dump()))
           .tools.as_array()[0]
           .find("function")
           ->find("parameters"),
      held);
}

TEST(Readers, DocumentsAreReadWhereTheyAreText) {
  const auto content = [](std::string_view part) {
    return error_of(fmt::format(R"({{"messages": [{{"role": "user", "content": [{}]}}]}})", part),
                    kChat);
  };
  EXPECT_EQ(content(R"({"type": "file", "file": {"filename": "a.txt",
                        "file_data": "data:text/plain;base64,YQ=="}})"),
            "no error");
  EXPECT_EQ(content(R"({"type": "file", "file": {"file_data":
                        "data:application/pdf;base64,JVBERi0xLjQ="}})"),
            "messages[0].content[0].file_data is a PDF, which is not read here: send its text, or "
            "its pages as images.");
  EXPECT_EQ(content(R"({"type": "file", "file": {"file_id": "f"}})"),
            "messages[0].content[0] is a file without file_data; files are not stored here.");
  EXPECT_EQ(content(R"({"type": "document", "source": {"type": "url", "url": "http://a"}})"),
            "messages[0].content[0].source is {\"type\": \"url\", \"url\": \"http://a\"}, but this "
            "server fetches and keeps no files: send the text itself.");
}

TEST(Readers, WhatIsAskedForUnderOtherNamesIsDone) {
  EXPECT_EQ(with_effort(R"("guided_json": {"type": "object"})").json_schema,
            json(R"({"type": "object"})"));
  EXPECT_EQ(with_effort(R"("structured_outputs": {"regex": "a", "json": null})").regex, "a");
  EXPECT_EQ(with_effort(R"("guided_choice": ["a", "b"])").choices, json(R"(["a", "b"])"));
  EXPECT_EQ(with_effort(R"("repeat_penalty": 1.5)").repetition_penalty, 1.5);
  EXPECT_EQ(with_effort(R"("reasoning_format": "deepseek")").reasoning_format, "auto");
  EXPECT_EQ(read(R"({"messages": [{"role": "user", "content": "a"}], "max_tokens": -1})", kChat)
                .max_tokens,
            kUnlimited);
  EXPECT_EQ(error_of(R"({"messages": [{"role": "user", "content": "a"}],
                         "modalities": ["text", "audio"]})",
                     kChat),
            "modalities has \"audio\", but this server answers with text only.");
}

TEST(Readers, LimitsOfNoTokensAreNamedAsTheyWereSent) {
  const std::string_view rest = " is 0, expected a whole number from 1 on, or -1.";
  for (const std::string name : {"max_tokens", "max_completion_tokens"}) {
    EXPECT_EQ(error_of(R"({"messages": [{"role": "user", "content": "a"}], ")" + name + R"(": 0})",
                       kChat),
              name + std::string(rest));
  }
  EXPECT_EQ(error_of(R"({"input": "a", "max_output_tokens": 0})", kResponses),
            "max_output_tokens" + std::string(rest));
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
  EXPECT_EQ(read(chat + R"(, "think": false})", kOllamaChat).enable_thinking, false);
  EXPECT_EQ(read(chat + R"(, "options": [], "format": []})", kOllamaChat).response_format, Json());
  EXPECT_TRUE(read_text_body("{}", kOllamaChat)->only_loads);
  EXPECT_TRUE(read_text_body("{}", kOllamaGenerate)->only_loads);
  const auto raw = read_text_body(R"({"prompt": "a", "raw": true})", kOllamaGenerate);
  EXPECT_FALSE(raw->is_chat);
  const auto plain = read_text_body(R"({"prompt": "a", "system": "b"})", kOllamaGenerate);
  EXPECT_EQ(plain->fields.messages, json(R"([{"role": "system", "content": "b"},
                                             {"role": "user", "content": "a"}])"));
}

TEST(Readers, MembersOfOldAnswersMayBeMissing) {
  EXPECT_EQ(read(R"({"messages": [{"role": "user", "images": null}, {"role": "assistant",
                     "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}]})",
                 kOllamaChat)
                .messages,
            json(R"([{"role": "user", "content": ""}, {"role": "assistant", "content": "",
                "tool_calls": [{"function": {"name": "f", "arguments": {}}, "id": "call_0",
                                "type": "function"}]}])"));
}

TEST(Readers, ErrorsSayWhichPart) {
  const struct {
    Endpoint endpoint;
    const char* body;
    const char* message;
  } cases[] = {
      {kResponses, "{}", "input is missing."},
      {kResponses, R"({"input": "a", "previous_response_id": "resp_1"})",
       "previous_response_id is \"resp_1\", but no conversations are stored here: send the whole "
       "of it as input."},
      {kResponses, R"({"input": [{"type": "web"}]})",
       "input[0] is {\"type\": \"web\"}, expected the type \"message\", \"function_call\", "
       "\"function_call_output\" or \"reasoning\"."},
      {kResponses, R"({"input": [{"role": "user", "content": [{"type": "input_image"}]}]})",
       "input[0].content[0].image_url is missing or no text; files are not stored here."},
      {kResponses, R"({"input": [{"role": "user", "content": [{"type": "input_audio"}]}]})",
       "input[0].content[0] is {\"type\": \"input_audio\"}, expected a part with a text or an "
       "image."},
      {kResponses, R"({"input": [{"type": "item_reference", "id": "msg_1"}]})",
       "input[0] is {\"type\": \"item_reference\", \"id\": \"msg_1\"}, but no such item is "
       "kept here, or no more: send the item itself, as clients do where store is false."},
      {kResponses, R"({"input": [{"type": "function_call", "name": "f"}]})",
       "input[0].call_id is missing or no text."},
      {kResponses, R"({"input": "a", "tools": [{"type": "namespace", "name": "a"}]})",
       "tools[0] is {\"type\": \"namespace\", \"name\": \"a\"}, expected a name and a list of "
       "tools."},
      {kMessages,
       R"({"max_tokens": 1, "messages": [{"role": "user", "content": "a"}], "tools": [{"name": "f"}]})",
       "tools[0].input_schema is missing, expected a JSON Schema."},
      {kMessages,
       R"({"max_tokens": 1, "messages": [{"role": "user", "content": "a"}],
           "output_config": {"format": {"type": "xml"}}})",
       "output_config.format is {\"type\": \"xml\"}, expected the type \"json_schema\", with a "
       "schema."},
      {kMessages, R"({"messages": [{"role": "user", "content": "a"}]})", "max_tokens is missing."},
      {kCountTokens, R"({"messages": []})", "messages is empty, expected at least one."},
      {kMessages, R"({"max_tokens": 1, "messages": [{"role": "tool", "content": "a"}]})",
       "messages[0].role is \"tool\", expected \"user\" or \"assistant\"."},
      {kMessages, R"({"max_tokens": 1, "messages": [{"role": "user", "content": [7]}]})",
       "messages[0].content[0] is 7, expected a part with a text or an image."},
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
}  // namespace tokamak::protocol
