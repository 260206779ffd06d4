#include "protocol/service/service_fixture_test.h"

namespace tokamak::protocol {
namespace {

struct Refused {
  std::string method, path, body;
  int status;
  const char* param;
  const char* code = "";
};

TEST_F(ServiceTest, ErrorsHaveOpenAIsBody) {
  const std::string chat(kChatPath), text(kTextPath);
  const auto completion = [&](std::string_view more, const char* param) {
    return Refused{"POST", text, text_body(more), 400, param};
  };
  const auto conversation = [&](std::string_view more, const char* param) {
    return Refused{"POST", chat, chat_body(more), 400, param};
  };
  const std::string texts17 = R"(, "stop": [)" + [] {
    std::string all = "\"a\"";
    for (int i = 0; i < 16; ++i) all += ", \"a\"";
    return all;
  }() + "]";
  const Refused cases[] = {
      {"GET", "/v2/nothing", "", 404, ""},
      {"GET", chat, "", 405, ""},
      {"POST", "/v1/models", "", 405, ""},
      {"GET", "/v1/models/other", "", 404, "model", "model_not_found"},
      {"POST", text, text_body(R"(, "model": "other")"), 404, "model", "model_not_found"},
      {"POST", chat, "{", 400, ""},
      {"POST", chat, "{}", 400, "messages"},
      {"POST", text, "{}", 400, "prompt"},
      {"POST", text, R"({"prompt": []})", 400, "prompt"},
      {"POST", text, R"({"prompt": ["a", 5]})", 400, "prompt"},
      {"POST", text, R"({"prompt": [5, "a"]})", 400, "prompt"},
      {"POST", text, R"({"prompt": [[]]})", 400, "prompt"},
      {"POST", text, R"({"prompt": [99999999]})", 400, "prompt"},
      {"POST", text, R"({"prompt": [-1]})", 400, "prompt"},
      {"POST", "/tokenize", "{}", 400, "content"},
      {"POST", "/detokenize", "{}", 400, "tokens"},
      {"POST", "/detokenize", R"({"tokens": [99999999]})", 400, "tokens"},
      {"POST", "/v1/embeddings", "{}", 400, "model"},
      {"POST", "/v1/embeddings", R"({"input": "a"})", 400, "model"},
      {"POST", "/v1/embeddings", R"({"input": "a", "encoding_format": "x"})", 400,
       "encoding_format"},
      completion(R"(, "stop": 5)", "stop"),
      completion(R"(, "stop": [5])", "stop"),
      completion(texts17, "stop"),
      completion(R"(, "n": 3, "best_of": 2)", "best_of"),
      completion(R"(, "best_of": 2, "stream": true)", "best_of"),
      completion(R"(, "logit_bias": {"-1": 1})", "logit_bias"),
      completion(R"(, "logit_bias": {"99999999": 1})", "logit_bias"),
      completion(R"(, "logit_bias": {"5": 101})", "logit_bias"),
      completion(R"(, "logit_bias": {"5": "1"})", "logit_bias"),
      completion(R"(, "echo": 1)", "echo"),
      completion(R"(, "suffix": "The end.")", "prompt"),
      completion(R"(, "suffix": "a", "echo": true, "logprobs": 1)", "suffix"),
      completion(R"(, "grammar": "root := 1")", "grammar"),
      completion(R"(, "stream_options": {})", "stream_options"),
      completion(R"(, "stream": true, "stream_options": {"include_usage": 1})", "stream_options"),
      conversation(R"(, "top_logprobs": 2)", "top_logprobs"),
      conversation(R"(, "reasoning_format": "x")", "reasoning_format"),
      conversation(R"(, "response_format": {})", "response_format"),
      conversation(R"(, "response_format": {"type": "json_schema"})", "response_format"),
      conversation(R"(, "json_schema": {"$ref": "https://example.com/schema"})", "json_schema"),
      conversation(R"(, "regex": "(")", "regex"),
      conversation(R"(, "regex": "a", "json_schema": {})", "grammar"),
      conversation(
          R"(, "tools": [{"type": "function", "function": {"name": "f", "parameters": {"not": {}}}}],
             "tool_choice": "required")",
          "tools[0].function.parameters"),
      conversation(R"(, "response_format": {"type": "json_object"}, "grammar": "root ::= \"a\"")",
                   "grammar"),
      {"POST", chat,
       R"({"messages": [{"role": "assistant", "content": "The template wants a user."}]})", 400,
       "messages"},
  };
  for (const Refused& one : cases) {
    const Received received = ask(one.path, one.body, one.method);
    EXPECT_EQ(received.status, one.status) << one.path << " " << one.body << received.body;
    EXPECT_EQ(received.content_type, "application/json");
    const Json body = received.json();
    const Json& error = at(body, "error");
    EXPECT_FALSE(at(error, "message").as_string().empty());
    EXPECT_EQ(at(error, "type"), Json("invalid_request_error"));
    const std::string param = one.param, code = one.code;
    EXPECT_EQ(at(error, "param"), param.empty() ? Json() : Json(param))
        << one.body << received.body;
    EXPECT_EQ(at(error, "code"), code.empty() ? Json() : Json(code)) << one.body;
  }
}

}  // namespace
}  // namespace tokamak::protocol
