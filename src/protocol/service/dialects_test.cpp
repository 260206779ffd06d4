// The same conversation through every protocol: the same text, the same counts of tokens.
#include "protocol/service/service_fixture_test.h"

namespace tokamak::protocol {
namespace {

struct Said {
  std::string text;
  int64_t prompt = 0, generated = 0;
  bool operator==(const Said&) const = default;
};

void PrintTo(const Said& said, std::ostream* out) {
  *out << '"' << said.text << "\", " << said.prompt << " and " << said.generated << " tokens";
}

Said from_chat(const Json& body) {
  return {content_at(body), at(at(body, "usage"), "prompt_tokens").as_integer(),
          at(at(body, "usage"), "completion_tokens").as_integer()};
}
Said from_responses(const Json& body) {
  const Json& item = at(body, "output").as_array().at(0);
  return {at(at(item, "content").as_array().at(0), "text").as_string(),
          at(at(body, "usage"), "input_tokens").as_integer(),
          at(at(body, "usage"), "output_tokens").as_integer()};
}
Said from_messages(const Json& body) {
  const Json& usage = at(body, "usage");
  return {
      at(at(body, "content").as_array().at(0), "text").as_string(),
      at(usage, "input_tokens").as_integer() + at(usage, "cache_read_input_tokens").as_integer(),
      at(usage, "output_tokens").as_integer()};
}
Said from_ollama(const Json& body, const std::string& text) {
  return {text, at(body, "prompt_eval_count").as_integer(), at(body, "eval_count").as_integer()};
}

TEST_F(ServiceTest, EveryProtocolGivesTheSameAnswer) {
  const std::string messages = R"("messages": [{"role": "user", "content": "Tell me of a king."}])";
  const Said expected =
      from_chat(ask(kChatPath, "{" + messages + R"(, "temperature": 0, "max_tokens": 4})").json());
  EXPECT_FALSE(expected.text.empty());
  EXPECT_EQ(expected.generated, 4);

  EXPECT_EQ(from_responses(ask("/v1/responses", R"({"input": "Tell me of a king.",
      "temperature": 0, "max_output_tokens": 4})")
                               .json()),
            expected);
  EXPECT_EQ(
      from_messages(
          ask("/v1/messages", "{" + messages + R"(, "temperature": 0, "max_tokens": 4})").json()),
      expected);
  const std::string options =
      R"(, "stream": false, "options": {"temperature": 0, "num_predict": 4}})";
  const Json chat = ask("/api/chat", "{" + messages + options).json();
  EXPECT_EQ(from_ollama(chat, at(at(chat, "message"), "content").as_string()), expected);
  const Json generated =
      ask("/api/generate", R"({"prompt": "Tell me of a king.")" + options).json();
  EXPECT_EQ(from_ollama(generated, at(generated, "response").as_string()), expected);

  const Json counted = ask("/v1/messages/count_tokens", "{" + messages + "}").json();
  EXPECT_EQ(at(counted, "input_tokens"), Json(expected.prompt));
  Json rendered = ask("/apply-template", "{" + messages + "}").json();
  Json body(Json::Object{{"content", at(rendered, "prompt")}, {"parse_special", true}});
  EXPECT_EQ(int64_t(at(ask("/tokenize", body.dump()).json(), "tokens").as_array().size()),
            expected.prompt);
}

TEST_F(ServiceTest, StreamsOfOtherProtocolsAreTheirWholeAnswers) {
  const std::string input =
      R"({"input": "Tell me of a king.", "temperature": 0, "max_output_tokens": 4)";
  const Json whole = ask("/v1/responses", input + "}").json();
  const Received streamed = ask("/v1/responses", input + R"(, "stream": true})");
  EXPECT_EQ(streamed.content_type, "text/event-stream; charset=utf-8");
  const size_t last = streamed.body.rfind("data: ");
  const auto end = Json::parse(std::string_view(streamed.body).substr(last + 6));
  ASSERT_TRUE(end) << streamed.body;
  EXPECT_EQ(at(*end, "type"), Json("response.incomplete"));
  EXPECT_EQ(from_responses(at(*end, "response")), from_responses(whole));

  const Received lines = ask("/api/generate", R"({"prompt": "Tell me of a king.",
      "options": {"temperature": 0, "num_predict": 4}})");
  EXPECT_EQ(lines.content_type, "application/x-ndjson");
  std::string text;
  Json line;
  for (size_t begin = 0, after = 0; (after = lines.body.find('\n', begin)) != std::string::npos;
       begin = after + 1) {
    line = *Json::parse(lines.body.substr(begin, after - begin));
    text += at(line, "response").as_string();
  }
  EXPECT_EQ(from_ollama(line, text), from_responses(whole));
  EXPECT_EQ(at(line, "done_reason"), Json("length"));
}

TEST_F(ServiceTest, ALastMessageOfTheAssistantIsContinued) {
  const std::string messages = R"("messages": [{"role": "user", "content": "Tell me."},
      {"role": "assistant", "content": "Once upon "}])";
  const auto prompt = [&](std::string_view more) {
    const Json rendered = ask("/apply-template", fmt::format("{{{}{}}}", messages, more)).json();
    return at(rendered, "prompt").as_string();
  };
  const std::string continued = prompt(R"(, "continue_final_message": true)");
  EXPECT_TRUE(continued.ends_with("Once upon ")) << continued;
  EXPECT_FALSE(prompt("").ends_with("Once upon "));
  Json body(Json::Object{{"content", continued}, {"parse_special", true}});
  const size_t tokens = at(ask("/tokenize", body.dump()).json(), "tokens").as_array().size();
  const Json counted = ask("/v1/messages/count_tokens", "{" + messages + "}").json();
  EXPECT_EQ(at(counted, "input_tokens"), Json(uint64_t(tokens))) << "as Anthropic means it";
  EXPECT_EQ(ask(kChatPath, chat_body(R"(, "continue_final_message": true)")).error(),
            "continue_final_message is true, but the last message is not an assistant's with a "
            "text.");
}

TEST_F(ServiceTest, ErrorsAreInTheDialectOfThePath) {
  const Json messages = ask("/v1/messages", "{}").json();
  EXPECT_EQ(messages, *Json::parse(R"({"type": "error", "error": {"type": "invalid_request_error",
      "message": "max_tokens is missing."}})"));
  const Json unknown = ask("/v1/messages", R"({"model": "x", "max_tokens": 1,
      "messages": [{"role": "user", "content": "a"}]})")
                           .json();
  EXPECT_EQ(at(at(unknown, "error"), "type"), Json("not_found_error"));
  const std::string long_text(4 * kContext, 'x');
  const std::string too_long = fmt::format(
      R"({{"max_tokens": 1, "messages": [{{"role": "user", "content": "{}"}}]}})", long_text);
  EXPECT_TRUE(ask("/v1/messages", too_long).error().starts_with("prompt is too long: The prompt"));
  EXPECT_TRUE(ask("/v1/chat/completions", too_long).error().starts_with("The prompt"));
  EXPECT_EQ(ask("/api/chat", R"({"messages": 5})").json(),
            *Json::parse(R"({"error": "messages is 5, expected a list of messages."})"));
  EXPECT_EQ(ask("/api/nothing", "").json(),
            *Json::parse(R"({"error": "There is nothing at \"/api/nothing\"."})"));
  EXPECT_EQ(ask("/api/tags", "").status, 405);
  EXPECT_TRUE(at(ask("/v1/responses", "{").json(), "error").is_object());
}

TEST_F(ServiceTest, OllamasListsHaveTheModel) {
  for (const char* path : {"/api/tags", "/api/ps"}) {
    const Json list = ask(path, "", "GET").json();
    const Json& model = at(list, "models").as_array().at(0);
    EXPECT_EQ(at(model, "name"), Json("org/storyteller"));
    EXPECT_GT(at(model, "size").as_integer(), 100000);
    EXPECT_EQ(at(model, "digest").as_string().size(), 64u) << "clients show its beginning";
    EXPECT_EQ(at(at(model, "details"), "quantization_level"), Json("BF16"));
    EXPECT_TRUE(at(at(model, "details"), "parameter_size").as_string().ends_with("K") ||
                at(at(model, "details"), "parameter_size").as_string().ends_with("M"));
  }
  EXPECT_TRUE(at(ask("/api/version", "", "GET").json(), "version").is_string());
  const Json shown = ask("/api/show", R"({"model": "org/storyteller:latest"})").json();
  EXPECT_FALSE(at(shown, "template").as_string().empty());
  EXPECT_EQ(at(shown, "capabilities").as_array().at(0), Json("completion"));
  EXPECT_EQ(at(at(shown, "details"), "family"), Json("gemma3"));
  EXPECT_EQ(ask("/api/show", R"({"model": "other"})").status, 404);
  const Json loaded = ask("/api/generate", R"({"model": "org/storyteller"})").json();
  EXPECT_EQ(at(loaded, "done_reason"), Json("load"));
  EXPECT_EQ(at(ask("/props", "", "GET").json(), "tool_calls"), Json("generic"));
}

}  // namespace
}  // namespace tokamak::protocol
