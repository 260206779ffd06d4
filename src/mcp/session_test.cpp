#include "mcp/session.h"

#include <gtest/gtest.h>

namespace tokamak::mcp {
namespace {

/// The engine is opened once for all tests; nothing of one may be left for the next.
class McpSession : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto opened = Engine::open({.model = TOKAMAK_SOURCE_DIR "/models/storyteller",
                                .backend = "cpu",
                                .context = 64,
                                .sequences = 2});
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = opened->release();
  }
  static void TearDownTestSuite() { delete engine_; }

  void SetUp() override {
    ASSERT_NE(engine_, nullptr);
    auto made = protocol::Service::make(*engine_, {.model = "storyteller",
                                                   .unix_seconds = [] { return int64_t{1}; },
                                                   .random = [] { return uint64_t{4}; }});
    ASSERT_TRUE(made) << made.error().message;
    service_ = *std::move(made);
    session_ =
        std::make_unique<Session>(*service_, SessionOptions{.version = "1.2.3"},
                                  [this](std::string_view line) { lines_.emplace_back(line); });
  }
  void TearDown() override {
    session_.reset();
    run();
    EXPECT_EQ(service_->running(), 0u);
  }

  static Scheduler& scheduler() { return **engine_->scheduler(); }
  static void run() { EXPECT_TRUE(scheduler().run()); }

  /// The only message that `line` is answered with.
  Json ask(std::string_view line) {
    lines_.clear();
    session_->receive(line);
    run();
    EXPECT_EQ(lines_.size(), 1u) << line;
    return lines_.empty() ? Json() : *Json::parse(lines_.back());
  }
  Json call(std::string_view name, std::string_view arguments) {
    const Json answer = ask(fmt::format(
        R"({{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {{"name": "{}", "arguments": {}}}}})",
        name, arguments));
    EXPECT_EQ(answer.find("id")->as_integer(), 7);
    const Json* result = answer.find("result");
    EXPECT_NE(result, nullptr) << answer.dump();
    return result == nullptr ? Json() : *result;
  }
  static std::string text_of(const Json& result) {
    return result.find("content")->as_array().at(0).find("text")->as_string();
  }

  static inline Engine* engine_ = nullptr;
  std::unique_ptr<protocol::Service> service_;
  std::unique_ptr<Session> session_;
  std::vector<std::string> lines_;
};

TEST_F(McpSession, GreetsInAVersionThatBothSidesKnow) {
  const auto version_for = [&](std::string_view asked) {
    const Json answer = ask(fmt::format(
        R"({{"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {{"protocolVersion": "{}"}}}})",
        asked));
    EXPECT_EQ(answer.find("id")->as_string(), "a");
    const Json& result = *answer.find("result");
    EXPECT_EQ(result.find("serverInfo")->find("version")->as_string(), "1.2.3");
    EXPECT_NE(result.find("capabilities")->find("tools"), nullptr);
    return result.find("protocolVersion")->as_string();
  };
  EXPECT_EQ(version_for("2024-11-05"), "2024-11-05");
  EXPECT_EQ(version_for("2025-03-26"), "2025-03-26");
  EXPECT_EQ(version_for("2025-06-18"), "2025-06-18");
  EXPECT_EQ(version_for("2025-11-25"), "2025-11-25");
  EXPECT_EQ(version_for("1999-01-01"), "2025-11-25");
}

TEST_F(McpSession, AnswersMistakesByTheirCodes) {
  const std::pair<const char*, int> mistakes[] = {
      {"{", -32700},
      {"[]", -32600},
      {R"({"id": 1, "method": "ping"})", -32600},
      {R"({"jsonrpc": "2.0", "id": 1})", -32600},
      {R"({"jsonrpc": "2.0", "id": null, "method": "ping"})", -32600},
      {R"({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]})", -32602},
      {R"({"jsonrpc": "2.0", "id": 1, "method": "resources/list"})", -32601},
      {R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "fly"}})", -32602},
      {R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "chat", "arguments": 1}})",
       -32602},
  };
  for (const auto& [line, code] : mistakes) {
    const Json answer = ask(line);
    ASSERT_NE(answer.find("error"), nullptr) << line;
    EXPECT_EQ(answer.find("error")->find("code")->as_integer(), code) << line;
    EXPECT_NE(answer.find("id"), nullptr) << line;
  }
}

TEST_F(McpSession, AnswersABatchAtOnceWhenAllOfItIsDone) {
  constexpr const char* kBatch =
      R"([{"jsonrpc": "2.0", "id": "a", "method": "tools/call",
           "params": {"name": "generate", "arguments": {"prompt": "Once", "max_tokens": 3}}},
          {"jsonrpc": "2.0", "method": "notifications/initialized"},
          {"jsonrpc": "2.0", "id": 2, "method": "ping"}, 3,
          {"jsonrpc": "2.0", "id": "b", "method": "tools/call",
           "params": {"name": "generate", "arguments": {"prompt": "a"}}}])";
  session_->receive(kBatch);
  session_->receive(
      R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "b"}})");
  EXPECT_TRUE(lines_.empty());
  run();
  ASSERT_EQ(lines_.size(), 1u);
  const Json answers = *Json::parse(lines_[0]);
  ASSERT_EQ(answers.as_array().size(), 3u);
  EXPECT_EQ(answers.as_array()[0].find("id")->as_integer(), 2);
  EXPECT_EQ(answers.as_array()[1].find("error")->find("code")->as_integer(), -32600);
  EXPECT_EQ(answers.as_array()[2].find("id")->as_string(), "a");
}

TEST_F(McpSession, TakesNoBatchesInVersionsWithoutThem) {
  constexpr const char* kBatch = R"([{"jsonrpc": "2.0", "id": 2, "method": "ping"}])";
  const auto greet = [&](const char* version) {
    ask(fmt::format(
        R"({{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {{"protocolVersion": "{}"}}}})",
        version));
  };
  greet("2025-03-26");
  EXPECT_TRUE(ask(kBatch).is_array());
  greet("2025-06-18");
  EXPECT_EQ(ask(kBatch).find("error")->find("code")->as_integer(), -32600);
  greet("2025-03-26");
  EXPECT_TRUE(ask("[]").is_object());
  lines_.clear();
  session_->receive(R"([{"jsonrpc": "2.0", "method": "notifications/initialized"}])");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(McpSession, TakesByteOrderMarksAndLineEndsOfWindows) {
  EXPECT_NE(
      ask("\xef\xbb\xbf{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"ping\"}\r").find("result"),
      nullptr);
}

TEST_F(McpSession, ReportsNothingToNoticesAnswersAndEmptyLines) {
  session_->receive(R"({"jsonrpc": "2.0", "method": "notifications/initialized"})");
  session_->receive(
      R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})");
  session_->receive(R"({"jsonrpc": "2.0", "id": 1, "result": {}})");
  session_->receive("");
  session_->receive("\r");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(McpSession, ListsToolsWithSchemas) {
  const Json answer = ask(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})");
  std::vector<std::string> names;
  for (const Json& tool : answer.find("result")->find("tools")->as_array()) {
    names.push_back(tool.find("name")->as_string());
    EXPECT_EQ(tool.find("inputSchema")->find("type")->as_string(), "object");
    EXPECT_EQ(tool.find("outputSchema")->find("type")->as_string(), "object");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"generate", "chat", "models"}));
}

TEST_F(McpSession, GeneratesWhatTheServiceGenerates) {
  std::string body;
  service_->begin(
      {"POST", "/v1/completions", R"({"prompt": "Once upon", "max_tokens": 6, "seed": 1})"},
      {.begin = [](int, std::string_view) {},
       .write = [&](std::string_view more) { body += more; },
       .end = [] {}});
  run();
  const Json expected = *Json::parse(body);
  const Json result = call("generate", R"({"prompt": "Once upon", "max_tokens": 6, "seed": 1})");
  EXPECT_FALSE(result.find("isError")->as_bool());
  EXPECT_EQ(text_of(result), expected.find("choices")->as_array()[0].find("text")->as_string());
  const Json& structured = *result.find("structuredContent");
  EXPECT_EQ(structured.find("text")->as_string(), text_of(result));
  EXPECT_EQ(structured.find("finish_reason")->as_string(), "length");
  EXPECT_EQ(structured.find("completion_tokens")->as_integer(), 6);
  EXPECT_EQ(*structured.find("prompt_tokens"), *expected.find("usage")->find("prompt_tokens"));
}

TEST_F(McpSession, ChatsAndNamesTheModel) {
  const Json chat =
      call("chat", R"({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4})");
  EXPECT_EQ(chat.find("structuredContent")->find("completion_tokens")->as_integer(), 4);
  const Json models = call("models", "{}");
  const Json& first = models.find("structuredContent")->find("models")->as_array().at(0);
  EXPECT_EQ(first.find("id")->as_string(), "storyteller");
}

TEST_F(McpSession, ReportsToTheModelThatCalledWhatIsWrongWithItsArguments) {
  const std::pair<const char*, const char*> mistakes[] = {
      {R"({"prompt": "a", "words": 3})",
       "The tool \"generate\" has no argument \"words\"; it has prompt, "},
      {R"({"prompt": "a", "stream": true})", "has no argument \"stream\""},
      {R"({"prompt": "a", "temperature": 3})", "temperature is 3"},
      {"{}", "prompt is missing"},
  };
  for (const auto& [arguments, sentence] : mistakes) {
    const Json result = call("generate", arguments);
    EXPECT_TRUE(result.find("isError")->as_bool()) << arguments;
    EXPECT_NE(text_of(result).find(sentence), std::string::npos) << text_of(result);
  }
}

TEST_F(McpSession, DoesNotAnswerACallThatWasCancelled) {
  session_->receive(
      R"({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "generate", "arguments": {"prompt": "a"}}})");
  ASSERT_TRUE(scheduler().step());
  const Json twice = *Json::parse([&] {
    session_->receive(
        R"({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "models"}})");
    return lines_.back();
  }());
  EXPECT_EQ(twice.find("error")->find("code")->as_integer(), -32600);
  lines_.clear();
  session_->receive(
      R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}})");
  run();
  EXPECT_TRUE(lines_.empty());
  EXPECT_EQ(service_->running(), 0u);
}

TEST_F(McpSession, ReportsTheProgressOfACallWhereThatIsAskedFor) {
  session_->receive(
      R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "generate",
          "_meta": {"progressToken": "p"}, "arguments": {"prompt": "Once upon a time", "max_tokens": 20, "seed": 1}}})");
  run();
  ASSERT_EQ(lines_.size(), 3u);
  for (size_t i = 0; i < 2; ++i) {
    const Json message = *Json::parse(lines_[i]);
    EXPECT_EQ(message.find("method")->as_string(), "notifications/progress");
    EXPECT_EQ(message.find("params")->find("progressToken")->as_string(), "p");
    EXPECT_EQ(message.find("params")->find("progress")->as_integer(), int64_t(8 * (i + 1)));
  }
}

}  // namespace
}  // namespace tokamak::mcp
