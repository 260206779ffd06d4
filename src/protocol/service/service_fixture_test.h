// The part that tests of the service share: an engine with the built-in model, and the answer that
// a client receives.
#pragma once
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "protocol/service/service.h"

namespace tokamak::protocol {

inline constexpr const char* kModel = TOKAMAK_SOURCE_DIR "/models/storyteller";
inline constexpr uint32_t kContext = 48;

/// The answer that a client received.
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
inline std::vector<Json> events(const Received& received) {
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

inline const Json& at(const Json& value, std::string_view name) {
  static const Json kNone;
  const Json* found = value.find(name);
  EXPECT_NE(found, nullptr) << name << " in " << value.dump();
  return found == nullptr ? kNone : *found;
}
inline const Json& choice_at(const Json& answer, size_t index) {
  return at(answer, "choices").as_array().at(index);
}
inline std::string text_at(const Json& answer, size_t index) {
  return at(choice_at(answer, index), "text").as_string();
}
inline std::string content_at(const Json& answer) {
  return at(at(choice_at(answer, 0), "message"), "content").as_string();
}
inline std::string finish_at(const Json& answer, size_t index) {
  return at(choice_at(answer, index), "finish_reason").as_string();
}

inline constexpr std::string_view kChatPath = "/v1/chat/completions", kTextPath = "/v1/completions";

inline std::string chat_body(std::string_view more) {
  return fmt::format(
      R"({{"messages": [{{"role": "user", "content": "Tell me of a king."}}], "max_tokens": 12{}}})",
      more);
}
inline std::string text_body(std::string_view more) {
  return fmt::format(R"({{"prompt": "Once upon a time", "max_tokens": 8{}}})", more);
}

}  // namespace tokamak::protocol
