// Replies of chats with calls of tools apart, in C++ and in C.
#include <gtest/gtest.h>

#include "base/json.h"
#include "tokamak/c_openai.h"
#include "tokamak/tokamak.h"

namespace tokamak {
namespace {

constexpr const char* kModel = TOKAMAK_SOURCE_DIR "/models/storyteller";
constexpr const char* kChat = "/v1/chat/completions";

/// A chat whose answer must be a call of a tool.
std::string chat(std::string_view more = "") {
  return R"({"messages": [{"role": "user", "content": "Louder!"}], "max_tokens": 96, "temperature": 0,
      "parallel_tool_calls": false, "tool_choice": "required",
      "tools": [{"type": "function", "function": {"name": "set_volume", "parameters": {
          "type": "object", "properties": {"level": {"enum": ["low", "high"]}},
          "required": ["level"]}}}])" +
         std::string(more) + "}";
}

Model open() {
  auto model = Model::open({.model = kModel, .backend = "cpu", .context = 512});
  EXPECT_TRUE(model) << model.error().message;
  return *std::move(model);
}

Result<ChatReply> reply_to(Model& model, const std::string& body, std::string_view path = kChat) {
  auto call = model.call(path, body);
  EXPECT_TRUE(call) << call.error().message;
  return read_chat_reply(*call);
}

TEST(ChatReply, HasCallsOfToolsApartFromTheText) {
  Model model = open();
  const auto whole = reply_to(model, chat());
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->text, "");
  EXPECT_EQ(whole->finish, "tool_calls");
  ASSERT_EQ(whole->tool_calls.size(), 1u);
  const ToolCall& own = whole->tool_calls[0];
  EXPECT_EQ(own.name, "set_volume");
  EXPECT_NE(own.id, "");
  const auto arguments = Json::parse(own.arguments);
  ASSERT_TRUE(arguments) << own.arguments;
  EXPECT_TRUE(arguments->find("level")->is_string());

  const auto streamed = reply_to(model, chat(R"(, "stream": true)"));
  ASSERT_TRUE(streamed) << streamed.error().message;
  ASSERT_EQ(streamed->tool_calls.size(), 1u);
  EXPECT_EQ(streamed->tool_calls[0].name, own.name);
  EXPECT_EQ(streamed->tool_calls[0].arguments, own.arguments);
  EXPECT_EQ(streamed->finish, "tool_calls");
}

TEST(ChatReply, HasTheTextThatACustomToolIsCalledWith) {
  Model model = open();
  const auto quote = model.tokenize("\"", false);
  ASSERT_TRUE(quote) << quote.error().message;
  // The model of stories hardly ever ends a text by itself.
  const std::string body =
      R"({"messages": [{"role": "user", "content": "Write!"}], "max_tokens": 96, "temperature": 0,
          "parallel_tool_calls": false, "tool_choice": "required", "tools": [{"type": "custom",
          "custom": {"name": "write"}}], "logit_bias": {")" +
      std::to_string(quote->back()) + R"(": 100}, "stream": )";
  for (const char* streams : {"false}", "true}"}) {
    const auto reply = reply_to(model, body + streams);
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_EQ(reply->tool_calls.size(), 1u);
    EXPECT_EQ(reply->tool_calls[0].name, "write");
    EXPECT_EQ(reply->tool_calls[0].arguments, "") << "the text, and not JSON around it";
    EXPECT_EQ(reply->finish, "tool_calls");
  }
}

TEST(ChatReply, IsTheTextWhereNothingIsCalled) {
  Model model = open();
  const std::string body =
      R"({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8, "temperature": 0,
          "n": 2, "stream": )";
  const auto whole = reply_to(model, body + "false}");
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_NE(whole->text, "");
  EXPECT_TRUE(whole->tool_calls.empty());
  const auto streamed = reply_to(model, body + "true}");
  ASSERT_TRUE(streamed) << streamed.error().message;
  EXPECT_EQ(streamed->text, whole->text);
}

TEST(ChatReply, IsAnErrorWhereTheAnswerIsOne) {
  Model model = open();
  const auto wrong = reply_to(model, R"({"messages": []})");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(wrong.error().message.find("messages"), std::string::npos) << wrong.error().message;
  const auto other = reply_to(model, R"({"prompt": "a", "max_tokens": 1})", "/v1/completions");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUsage);
  auto call = model.call(kChat, chat(R"(, "stream": true)"));
  ASSERT_TRUE(call);
  call->cancel();
  const auto cancelled = read_chat_reply(*call);
  ASSERT_FALSE(cancelled);
  EXPECT_NE(cancelled.error().message.find("cancelled"), std::string::npos);
}

TEST(ChatReply, ComesApartInC) {
  Model model = open();
  const auto expected = reply_to(model, chat());
  ASSERT_TRUE(expected) << expected.error().message;
  tokamak_options* options = tokamak_options_new();
  for (const auto& [name, value] :
       {std::pair("model", kModel), std::pair("backend", "cpu"), std::pair("context", "512")}) {
    EXPECT_TRUE(tokamak_options_set(options, name, value, nullptr)) << name;
  }
  tokamak_model* opened = tokamak_model_open(options, nullptr);
  tokamak_options_free(options);
  ASSERT_NE(opened, nullptr);
  tokamak_call* call = tokamak_model_call(opened, kChat, chat().c_str(), nullptr);
  ASSERT_NE(call, nullptr);
  tokamak_chat_reply reply = {};
  reply.size = sizeof reply;
  ASSERT_TRUE(tokamak_call_chat_reply(call, &reply, nullptr));
  EXPECT_STREQ(reply.text, "");
  EXPECT_EQ(reply.reasoning_bytes, 0u);
  EXPECT_STREQ(reply.finish, "tool_calls");
  ASSERT_EQ(reply.tool_call_count, 1u);
  EXPECT_STREQ(reply.tool_calls[0].name, "set_volume");
  EXPECT_EQ(reply.tool_calls[0].arguments, expected->tool_calls[0].arguments);
  tokamak_call_free(call);
  tokamak_error* error = nullptr;
  call = tokamak_model_call(opened, "/v1/nothing", "{}", nullptr);
  EXPECT_FALSE(tokamak_call_chat_reply(call, &reply, &error));
  EXPECT_NE(error, nullptr);
  tokamak_error_free(error);
  tokamak_call_free(call);
  tokamak_model_free(opened);
}

}  // namespace
}  // namespace tokamak
