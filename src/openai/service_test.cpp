#include "openai/service.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace tokamak::openai {
namespace {

constexpr const char* kModel = TOKAMAK_SOURCE_DIR "/models/storyteller";
constexpr uint32_t kContext = 48;

/// What a client received.
struct Received {
  int status = 0;
  std::string content_type, body;
  uint32_t ends = 0;

  Json json() const {
    const auto parsed = Json::parse(body);
    EXPECT_TRUE(parsed) << body;
    return parsed ? *parsed : Json();
  }
  std::string error() const {
    const Json whole = json();
    const Json* found = whole.find("error");
    return found == nullptr ? "no error" : found->find("message")->as_string();
  }
};

/// The engine is opened once for all tests; nothing of one may be left for the next.
class ServiceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto opened =
        Engine::open({.model = kModel, .backend = "cpu", .context = kContext, .sequences = 2});
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = opened->release();
  }
  static void TearDownTestSuite() { delete engine_; }

  void SetUp() override {
    ASSERT_NE(engine_, nullptr);
    auto made = Service::make(*engine_, {.model = "org/storyteller",
                                         .created = 1700000000,
                                         .unix_seconds = [] { return int64_t{1800000000}; },
                                         .random = [this] { return ++drawn_; }});
    ASSERT_TRUE(made) << made.error().message;
    service_ = *std::move(made);
  }

  static Sink sink_of(Received& received) {
    return {.begin =
                [&received](int status, std::string_view type) {
                  EXPECT_EQ(received.status, 0) << "begins twice";
                  received.status = status;
                  received.content_type = type;
                },
            .write =
                [&received](std::string_view text) {
                  EXPECT_NE(received.status, 0) << "writes before it begins";
                  EXPECT_EQ(received.ends, 0u) << "writes after the end";
                  EXPECT_TRUE(is_valid_utf8(text));
                  received.body += text;
                },
            .end = [&received] { ++received.ends; }};
  }
  ExchangeId begin(Received& received, std::string_view path, std::string_view body,
                   std::string_view method = "POST") {
    return service_->begin({std::string(method), std::string(path), std::string(body)},
                           sink_of(received));
  }
  static void run() { EXPECT_TRUE((*engine_->scheduler())->run()); }
  Received ask(std::string_view path, std::string_view body, std::string_view method = "POST") {
    Received received;
    begin(received, path, body, method);
    run();
    EXPECT_EQ(received.ends, 1u);
    EXPECT_EQ(service_->running(), 0u);
    return received;
  }

  static inline Engine* engine_ = nullptr;
  uint64_t drawn_ = 0;
  std::unique_ptr<Service> service_;
};

/// The events of a stream, without the last, which is [DONE].
std::vector<Json> events(const Received& received) {
  EXPECT_EQ(received.status, 200);
  EXPECT_EQ(received.content_type, "text/event-stream; charset=utf-8");
  std::vector<Json> out;
  std::string_view rest = received.body;
  bool is_done = false;
  while (!rest.empty()) {
    EXPECT_TRUE(rest.starts_with("data: ")) << rest;
    const size_t end = rest.find("\n\n");
    EXPECT_NE(end, std::string_view::npos) << rest;
    if (end == std::string_view::npos) break;
    const std::string_view data = rest.substr(6, end - 6);
    rest.remove_prefix(end + 2);
    EXPECT_FALSE(is_done) << "an event after [DONE]";
    is_done = data == "[DONE]";
    if (is_done) continue;
    const auto parsed = Json::parse(data);
    EXPECT_TRUE(parsed) << data;
    if (parsed) out.push_back(*parsed);
  }
  EXPECT_TRUE(is_done);
  return out;
}

const Json& at(const Json& value, std::string_view name) {
  static const Json kNone;
  const Json* found = value.find(name);
  EXPECT_NE(found, nullptr) << name << " in " << value.dump();
  return found == nullptr ? kNone : *found;
}
const Json& choice_at(const Json& answer, size_t index) {
  return at(answer, "choices").as_array().at(index);
}
std::string text_at(const Json& answer, size_t index) {
  return at(choice_at(answer, index), "text").as_string();
}
std::string content_at(const Json& answer) {
  return at(at(choice_at(answer, 0), "message"), "content").as_string();
}
std::string finish_at(const Json& answer, size_t index) {
  return at(choice_at(answer, index), "finish_reason").as_string();
}

constexpr std::string_view kChatPath = "/v1/chat/completions", kTextPath = "/v1/completions";

std::string chat_body(std::string_view more) {
  return fmt::format(
      R"({{"messages": [{{"role": "user", "content": "Tell me of a king."}}], "max_tokens": 12{}}})",
      more);
}
std::string text_body(std::string_view more) {
  return fmt::format(R"({{"prompt": "Once upon a time", "max_tokens": 8{}}})", more);
}

TEST_F(ServiceTest, AChatIsAnsweredInOpenAIsShape) {
  const Received received = ask(kChatPath, chat_body(R"(, "temperature": 0)"));
  EXPECT_EQ(received.status, 200) << received.body;
  EXPECT_EQ(received.content_type, "application/json");
  const Json answer = received.json();
  EXPECT_EQ(at(answer, "object"), Json("chat.completion"));
  EXPECT_TRUE(at(answer, "id").as_string().starts_with("chatcmpl-"));
  EXPECT_EQ(at(answer, "created"), Json(1800000000));
  EXPECT_EQ(at(answer, "model"), Json("org/storyteller"));
  EXPECT_TRUE(at(answer, "system_fingerprint").as_string().starts_with("fp_"));
  EXPECT_EQ(at(at(choice_at(answer, 0), "message"), "role"), Json("assistant"));
  EXPECT_FALSE(content_at(answer).empty());
  EXPECT_EQ(finish_at(answer, 0), "length");
  const Json& usage = at(answer, "usage");
  EXPECT_EQ(at(usage, "completion_tokens"), Json(12));
  const int64_t prompt = at(usage, "prompt_tokens").as_integer();
  EXPECT_EQ(at(usage, "total_tokens"), Json(prompt + 12));
  EXPECT_TRUE(at(at(usage, "prompt_tokens_details"), "cached_tokens").is_integer());

  const Received rendered = ask("/apply-template", chat_body(""));
  Json body;
  body.set("content", at(rendered.json(), "prompt"));
  body.set("parse_special", true);
  const Json tokens = ask("/tokenize", body.dump()).json();
  EXPECT_EQ(int64_t(at(tokens, "tokens").as_array().size()), prompt);
}

TEST_F(ServiceTest, TheStreamIsTheSameAnswer) {
  for (const char* more : {R"(, "temperature": 0)", R"(, "seed": 5)",
                           R"(, "temperature": 0, "logprobs": true, "top_logprobs": 2)"}) {
    const Json whole = ask(kChatPath, chat_body(more)).json();
    const Received received =
        ask(kChatPath,
            chat_body(fmt::format(
                R"({}, "stream": true, "stream_options": {{"include_usage": true}})", more)));
    const std::vector<Json> chunks = events(received);
    ASSERT_GE(chunks.size(), 4u);
    std::string content;
    Json::Array logprobs;
    for (const Json& chunk : chunks) {
      EXPECT_EQ(at(chunk, "object"), Json("chat.completion.chunk"));
      EXPECT_EQ(at(chunk, "id"), at(chunks[0], "id"));
      if (&chunk == &chunks.back()) break;
      const Json& choice = choice_at(chunk, 0);
      const Json* piece = at(choice, "delta").find("content");
      if (piece != nullptr) content += piece->as_string();
      const Json& of = at(choice, "logprobs");
      if (!of.is_null())
        std::ranges::copy(at(of, "content").as_array(), std::back_inserter(logprobs));
      const bool is_last = &chunk == &chunks[chunks.size() - 2];
      EXPECT_EQ(at(choice, "finish_reason"), is_last ? Json("length") : Json());
    }
    EXPECT_EQ(at(choice_at(chunks[0], 0), "delta"),
              *Json::parse(R"({"role": "assistant", "content": ""})"));
    EXPECT_EQ(content, content_at(whole));
    const Json& expected = at(choice_at(whole, 0), "logprobs");
    if (expected.is_null()) {
      EXPECT_TRUE(logprobs.empty());
    } else {
      EXPECT_EQ(Json(logprobs), at(expected, "content"));
      EXPECT_EQ(logprobs.size(), 12u);
    }
    EXPECT_TRUE(at(chunks.back(), "choices").as_array().empty());
    for (const char* count : {"prompt_tokens", "completion_tokens", "total_tokens"}) {
      EXPECT_EQ(at(at(chunks.back(), "usage"), count), at(at(whole, "usage"), count));
    }
  }
}

TEST_F(ServiceTest, TheFirstEventComesWithTheFirstToken) {
  Received received;
  const ExchangeId id = begin(received, kChatPath, chat_body(R"(, "stream": true)"));
  EXPECT_EQ(received.status, 0) << "it may still become an error";
  Scheduler* scheduler = *engine_->scheduler();
  while (received.body.empty()) {
    ASSERT_TRUE(*scheduler->step());
    ASSERT_TRUE(scheduler->wait());
  }
  EXPECT_NE(received.body.find(R"("delta": {"role": "assistant", "content": ""})"),
            std::string::npos);
  EXPECT_EQ(service_->running(), 1u);
  const std::string before = received.body;
  service_->cancel(id);
  service_->cancel(id);
  run();
  EXPECT_EQ(received.body, before) << "who left is told nothing more";
  EXPECT_EQ(received.ends, 0u);
  EXPECT_EQ(service_->running(), 0u);
  EXPECT_EQ((*engine_->scheduler())->stats().running, 0u);
}

TEST_F(ServiceTest, WhatIsOnItsWayEndsWithTheService) {
  Received received;
  begin(received, kChatPath, chat_body(R"(, "stream": true)"));
  service_.reset();
  run();
  EXPECT_EQ(received.status, 0);
}

TEST_F(ServiceTest, AnErrorInAStreamIsItsLastEvent) {
  Received received;
  begin(received, kChatPath, chat_body(R"(, "stream": true)"));
  Scheduler* scheduler = *engine_->scheduler();
  while (received.body.empty()) {
    ASSERT_TRUE(*scheduler->step());
    ASSERT_TRUE(scheduler->wait());
  }
  ASSERT_TRUE(engine_->start());  // which ends the scheduler's requests
  EXPECT_FALSE(scheduler->run());
  EXPECT_EQ(received.ends, 1u);
  EXPECT_TRUE(
      received.body.substr(received.body.rfind("data: ")).starts_with("data: {\"error\": "));
  EXPECT_EQ(received.body.find("[DONE]"), std::string::npos);
}

TEST_F(ServiceTest, TwoAtOnceAreAnsweredAsAlone) {
  const std::string bodies[] = {chat_body(R"(, "seed": 1)"), text_body(R"(, "seed": 2)")};
  const Json alone[] = {ask(kChatPath, bodies[0]).json(), ask(kTextPath, bodies[1]).json()};
  Received chat, text;
  begin(chat, kChatPath, bodies[0]);
  begin(text, kTextPath, bodies[1]);
  EXPECT_EQ(service_->running(), 2u);
  run();
  EXPECT_EQ(at(chat.json(), "choices"), at(alone[0], "choices"));
  EXPECT_EQ(at(text.json(), "choices"), at(alone[1], "choices"));
}

TEST_F(ServiceTest, ChoicesHaveSeedsOfTheirOwnAndShareThePrompt) {
  const Json one = ask(kTextPath, text_body(R"(, "seed": 3, "temperature": 1)")).json();
  const Json three = ask(kTextPath, text_body(R"(, "seed": 3, "temperature": 1, "n": 3)")).json();
  ASSERT_EQ(at(three, "choices").as_array().size(), 3u);
  EXPECT_EQ(text_at(three, 0), text_at(one, 0));
  EXPECT_NE(text_at(three, 1), text_at(three, 0));
  EXPECT_NE(text_at(three, 2), text_at(three, 1));
  EXPECT_EQ(at(at(three, "usage"), "prompt_tokens"), at(at(one, "usage"), "prompt_tokens"));
  EXPECT_EQ(at(at(three, "usage"), "completion_tokens"), Json(24));
  const Json again = ask(kTextPath, text_body(R"(, "temperature": 1)")).json();
  EXPECT_NE(text_at(again, 0),
            text_at(ask(kTextPath, text_body(R"(, "temperature": 1)")).json(), 0))
      << "without a seed it is another one each time";
}

TEST_F(ServiceTest, AStopTextEndsTheAnswer) {
  const std::string greedy = R"(, "temperature": 0)";
  const std::string text = text_at(ask(kTextPath, text_body(greedy)).json(), 0);
  const size_t middle = text.size() / 2;
  Json stop(Json::Object{{"stop", text.substr(middle, 4)}});
  const std::string more = greedy + ", " + stop.dump().substr(1, stop.dump().size() - 2);
  const Json stopped = ask(kTextPath, text_body(more)).json();
  EXPECT_EQ(text_at(stopped, 0), text.substr(0, text.find(text.substr(middle, 4))));
  EXPECT_EQ(finish_at(stopped, 0), "stop");
  std::string streamed;
  for (const Json& chunk : events(ask(kTextPath, text_body(more + R"(, "stream": true)")))) {
    streamed += text_at(chunk, 0);
  }
  EXPECT_EQ(streamed, text_at(stopped, 0)) << "no beginning of the stop text leaks";
}

TEST_F(ServiceTest, PromptsHaveFourForms) {
  const std::string rest = R"(, "max_tokens": 4, "temperature": 0)";
  const std::string text = "Once upon a time";
  const Json tokens =
      ask("/v1/tokenize", R"({"prompt": "Once upon a time", "add_special_tokens": true})").json();
  const std::string ids = at(tokens, "tokens").dump();
  const Json expected = ask(kTextPath, R"({"prompt": "Once upon a time")" + rest + "}").json();
  for (const std::string& prompt :
       {R"(["Once upon a time"])" + std::string(), ids, "[" + ids + "]"}) {
    const Json found = ask(kTextPath, "{\"prompt\": " + prompt + rest + "}").json();
    EXPECT_EQ(text_at(found, 0), text_at(expected, 0)) << prompt;
  }
  const Json both =
      ask(kTextPath, R"({"prompt": ["Once upon a time", "The king"], "echo": true)" + rest + "}")
          .json();
  EXPECT_EQ(text_at(both, 0), text + text_at(expected, 0));
  EXPECT_TRUE(text_at(both, 1).starts_with("The king"));
  EXPECT_EQ(at(choice_at(both, 1), "index"), Json(1));
}

TEST_F(ServiceTest, LogprobsOfCompletionsHaveTheOldShape) {
  const Json answer = ask(kTextPath, text_body(R"(, "temperature": 0, "logprobs": 2)")).json();
  const Json& logprobs = at(choice_at(answer, 0), "logprobs");
  std::string all;
  for (const Json& token : at(logprobs, "tokens").as_array()) all += token.as_string();
  EXPECT_EQ(all, text_at(answer, 0));
  EXPECT_EQ(at(logprobs, "token_logprobs").as_array().size(), 8u);
  for (const Json& top : at(logprobs, "top_logprobs").as_array()) {
    EXPECT_EQ(top.as_object().size(), 2u);
  }
  const std::string first = at(logprobs, "tokens").as_array()[0].as_string();
  EXPECT_EQ(at(logprobs, "text_offset").as_array()[1], Json(uint64_t(first.size())));
}

TEST_F(ServiceTest, AnAnswerIsHeldToAGrammar) {
  const Json king = ask(kTextPath, text_body(R"(, "grammar": "root ::= \" the king\"")")).json();
  EXPECT_EQ(text_at(king, 0), " the king");
  EXPECT_EQ(finish_at(king, 0), "stop");
  const std::string body = R"({"messages": [{"role": "user", "content": "a"}], "max_tokens": 6,
                               "response_format": {"type": "json_object"}})";
  EXPECT_TRUE(content_at(ask(kChatPath, body).json()).starts_with("{"));
}

TEST_F(ServiceTest, TheAnswerEndsWhereTheContextDoes) {
  const auto body = [](uint32_t kings) {  // a token each, after one at the beginning
    std::string prompt;
    for (uint32_t i = 0; i < kings; ++i) prompt += " king";
    return fmt::format(R"({{"prompt": "{}", "max_tokens": 32000, "ignore_eos": true}})", prompt);
  };
  const Json answer = ask(kTextPath, body(kContext - 4)).json();
  EXPECT_EQ(finish_at(answer, 0), "length");
  EXPECT_EQ(at(at(answer, "usage"), "prompt_tokens"), Json(kContext - 3));
  EXPECT_EQ(at(at(answer, "usage"), "completion_tokens"), Json(3));
  const Received received = ask(kTextPath, body(kContext - 1));
  EXPECT_EQ(received.status, 400);
  EXPECT_NE(received.body.find("\"code\": \"context_length_exceeded\""), std::string::npos);
  EXPECT_EQ(received.error(),
            "The prompt has 48 tokens, but the context has 48, in which the answer must have room, "
            "too.");
}

TEST_F(ServiceTest, ModelsAreListed) {
  const Json list = ask("/v1/models", "", "GET").json();
  ASSERT_EQ(at(list, "data").as_array().size(), 1u);
  const Json& model = at(list, "data").as_array()[0];
  EXPECT_EQ(model, *Json::parse(R"({"id": "org/storyteller", "object": "model",
      "created": 1700000000, "owned_by": "tokamak", "max_model_len": 48})"));
  for (const char* path : {"/v1/models/org/storyteller", "/models/org%2Fstoryteller?x=1"}) {
    EXPECT_EQ(ask(path, "", "GET").json(), model);
  }
  EXPECT_EQ(ask("/health", "", "GET").json(), *Json::parse(R"({"status": "ok"})"));
  EXPECT_EQ(ask(kTextPath, text_body(R"(, "model": "org/storyteller")")).status, 200);
}

TEST_F(ServiceTest, TextsBecomeTokensAndComeBack) {
  const Json tokens = ask("/tokenize", R"({"content": "Once upon a time"})").json();
  const Json text = ask("/detokenize", tokens.dump()).json();
  EXPECT_EQ(at(text, "content"), Json("Once upon a time"));
  const Json pieces =
      ask("/tokenize", R"({"content": "Once upon a time", "with_pieces": true})").json();
  std::string all;
  for (const Json& one : at(pieces, "tokens").as_array()) all += at(one, "piece").as_string();
  EXPECT_EQ(all, "Once upon a time");
  const auto count = [&](const char* more) {
    const std::string body = std::string(R"({"content": "<end_of_turn>")") + more + "}";
    return at(ask("/tokenize", body).json(), "tokens").as_array().size();
  };
  EXPECT_GT(count(""), 1u);
  EXPECT_EQ(count(R"(, "parse_special": true)"), 1u);
}

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
      {"POST", "/v1/embeddings", "{}", 400, "input"},
      {"POST", "/v1/embeddings", R"({"input": "a"})", 400, "input"},
      {"POST", "/v1/embeddings", R"({"input": "a", "encoding_format": "x"})", 400,
       "encoding_format"},
      completion(R"(, "stop": 5)", "stop"),
      completion(R"(, "stop": [5])", "stop"),
      completion(texts17, "stop"),
      completion(R"(, "best_of": 2)", "best_of"),
      completion(R"(, "echo": true, "logprobs": 1)", "echo"),
      completion(R"(, "grammar": "root := 1")", "grammar"),
      completion(R"(, "stream_options": {})", "stream_options"),
      completion(R"(, "stream": true, "stream_options": {"include_usage": 1})", "stream_options"),
      conversation(R"(, "top_logprobs": 2)", "top_logprobs"),
      conversation(R"(, "response_format": {})", "response_format"),
      conversation(R"(, "response_format": {"type": "json_schema"})", "response_format"),
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
}  // namespace tokamak::openai
