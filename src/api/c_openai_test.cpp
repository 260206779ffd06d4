#include "tokamak/c_openai.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.h"

namespace {

using tokamak::Json;

/// Counts calls of a tokamak_ready, and waits for them.
struct Bell {
  static void ring(void* user) {
    auto* own = static_cast<Bell*>(user);
    const std::scoped_lock lock(own->mutex);
    ++own->rings;
    own->rang.notify_all();
  }
  void wait_beyond(int seen) {
    std::unique_lock lock(mutex);
    rang.wait(lock, [&] { return rings > seen; });
  }
  int count() {
    const std::scoped_lock lock(mutex);
    return rings;
  }

  std::mutex mutex;
  std::condition_variable rang;
  int rings = 0;
};

struct Answer {
  int status = 0;
  std::string type;
  std::vector<std::string> parts;
};

struct COpenAi : testing::Test {
  void open(const char* pooling = nullptr, const char* has_thread = "true") {
    tokamak_options* options = tokamak_options_new();
    const char* folder = TOKAMAK_SOURCE_DIR "/models/storyteller";
    EXPECT_TRUE(tokamak_options_set(options, "model", folder, nullptr));
    EXPECT_TRUE(tokamak_options_set(options, "backend", "cpu", nullptr));
    EXPECT_TRUE(tokamak_options_set(options, "context", "256", nullptr));
    EXPECT_TRUE(tokamak_options_set(options, "has_thread", has_thread, nullptr));
    if (pooling != nullptr) {
      EXPECT_TRUE(tokamak_options_set(options, "pooling", pooling, nullptr));
    }
    model = tokamak_model_open(options, nullptr);
    tokamak_options_free(options);
    ASSERT_NE(model, nullptr);
  }
  ~COpenAi() override { tokamak_model_free(model); }

  tokamak_call* begin(const char* path, const char* body) {
    tokamak_error* error = nullptr;
    tokamak_call* call = tokamak_model_call(model, path, body, &error);
    EXPECT_NE(call, nullptr) << tokamak_error_message(error);
    return call;
  }
  static Answer rest(tokamak_call* call) {
    Answer answer;
    tokamak_answer_part part = {};
    part.size = sizeof part;
    while (tokamak_call_next(call, -1, &part) == TOKAMAK_STREAM_PIECE) {
      answer.status = part.status;
      answer.type = part.content_type;
      answer.parts.emplace_back(part.bytes, part.count);
    }
    tokamak_call_free(call);
    return answer;
  }
  Answer ask(const char* path, const char* body) { return rest(begin(path, body)); }

  tokamak_model* model = nullptr;
};

constexpr const char* kCompletions = "/v1/completions";
constexpr const char* kWhole =
    R"({"prompt": "Once upon a time", "max_tokens": 4, "temperature": 0})";
constexpr const char* kStreamed =
    R"({"prompt": "Once upon a time", "max_tokens": 4, "temperature": 0, "stream": true})";
constexpr const char* kEndless =
    R"({"prompt": "Once", "max_tokens": 200, "stream": true, "logit_bias": {"0": -100}})";

TEST_F(COpenAi, AnswersWhole) {
  open();
  const Answer answer = ask(kCompletions, kWhole);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.type, "application/json");
  ASSERT_EQ(answer.parts.size(), 1u);
  const auto json = Json::parse(answer.parts[0]);
  ASSERT_TRUE(json) << answer.parts[0];
  EXPECT_NE(answer.parts[0].find(", there lived"), std::string::npos) << answer.parts[0];
  EXPECT_NE(answer.parts[0].find(R"("model": "storyteller")"), std::string::npos);
}

TEST_F(COpenAi, StreamsEventsWithoutTheirFrames) {
  open();
  const Answer answer = ask(kCompletions, kStreamed);
  EXPECT_EQ(answer.type, "text/event-stream; charset=utf-8");
  ASSERT_GE(answer.parts.size(), 4u);
  for (const std::string& part : answer.parts) EXPECT_TRUE(Json::parse(part)) << part;
  const Answer lines = ask("/api/generate", R"({"prompt": "Once", "options": {"num_predict": 3}})");
  EXPECT_EQ(lines.type, "application/x-ndjson");
  ASSERT_GE(lines.parts.size(), 3u);
  for (const std::string& part : lines.parts) EXPECT_TRUE(Json::parse(part)) << part;
}

TEST_F(COpenAi, AnswersWhatNeedsNoDeviceAndWhatIsWrong) {
  open();
  const Answer models = ask("/v1/models", nullptr);
  EXPECT_EQ(models.status, 200);
  EXPECT_NE(models.parts.at(0).find("storyteller"), std::string::npos);
  EXPECT_EQ(ask("/v1/nothing", "{}").status, 404);
  const Answer wrong = ask(kCompletions, R"({"prompt": 1e400})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.parts.at(0).find("invalid_request_error"), std::string::npos) << wrong.parts[0];
}

TEST_F(COpenAi, WorksInStepsOnWhatIsNoText) {
  open("mean");
  const Answer answer = ask("/v1/embeddings", R"({"input": ["A fox", "The sea"]})");
  EXPECT_EQ(answer.status, 200) << answer.parts.at(0);
  EXPECT_NE(answer.parts.at(0).find("embedding"), std::string::npos);
}

TEST_F(COpenAi, ContinuesWithWorkOfSeveralSteps) {
  open("mean");
  std::string words, input;
  for (int i = 0; i < 100; ++i) words += "fox ";
  for (int i = 0; i < 24; ++i) input += (i > 0 ? ", \"" : "\"") + words + "\"";
  const std::string body = R"({"input": [)" + input + "]}";
  const Answer answer = ask("/v1/embeddings", body.c_str());
  EXPECT_EQ(answer.status, 200) << answer.parts.at(0);
  EXPECT_NE(answer.parts.at(0).find(R"("index": 23)"), std::string::npos);
}

TEST_F(COpenAi, WakesWhoWaitsElsewhere) {
  open();
  Bell bell;
  tokamak_call* call = begin(kCompletions, kStreamed);
  tokamak_call_on_ready(call, Bell::ring, &bell);
  tokamak_answer_part part = {};
  part.size = sizeof part;
  size_t parts = 0;
  for (int seen = 0;; seen = bell.count()) {
    tokamak_next next = TOKAMAK_STREAM_PIECE;
    while ((next = tokamak_call_next(call, 0, &part)) == TOKAMAK_STREAM_PIECE) ++parts;
    if (next == TOKAMAK_STREAM_END) break;
    bell.wait_beyond(seen);
  }
  EXPECT_GE(parts, 4u);
  const int before = bell.count();
  tokamak_call_on_ready(call, Bell::ring, &bell);
  EXPECT_EQ(bell.count(), before + 1) << "at once, where it has ended";
  tokamak_call_free(call);
}

TEST_F(COpenAi, CanBeCancelledAndClosed) {
  open();
  tokamak_call* call = begin(kCompletions, kEndless);
  tokamak_answer_part part = {};
  part.size = sizeof part;
  ASSERT_EQ(tokamak_call_next(call, -1, &part), TOKAMAK_STREAM_PIECE);
  tokamak_call_cancel(call);
  const Answer rest_of_it = rest(call);
  ASSERT_FALSE(rest_of_it.parts.empty());
  EXPECT_LT(rest_of_it.parts.size(), 100u);
  EXPECT_NE(rest_of_it.parts.back().find("cancelled"), std::string::npos)
      << rest_of_it.parts.back();

  tokamak_call_free(begin(kCompletions, kEndless));
  call = begin(kCompletions, kEndless);
  tokamak_model_close(model);
  const Answer closed = rest(call);
  ASSERT_FALSE(closed.parts.empty());
  EXPECT_NE(closed.parts.back().find("cancelled"), std::string::npos) << closed.parts.back();
  tokamak_error* error = nullptr;
  ASSERT_EQ(tokamak_model_call(model, "/v1/models", nullptr, &error), nullptr);
  EXPECT_STREQ(tokamak_error_message(error), "The model is closed.");
  tokamak_error_free(error);
}

TEST_F(COpenAi, RunsTheModelWhereNobodyElseDoes) {
  open(nullptr, "false");
  tokamak_call* call = begin(kCompletions, kWhole);
  tokamak_answer_part part = {};
  part.size = sizeof part;
  EXPECT_EQ(tokamak_call_next(call, 0, &part), TOKAMAK_STREAM_TIMEOUT);
  EXPECT_EQ(rest(call).status, 200);
}

}  // namespace
