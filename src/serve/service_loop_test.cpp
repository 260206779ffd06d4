#include "serve/service_loop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <tuple>

namespace tokamak::serve {
namespace {

constexpr auto kLongest = std::chrono::seconds(60);
constexpr CallId kCall = CallId(1);

struct Answer {
  std::optional<Reply> head;
  std::string bytes;
  bool has_ended = false;
};

class ServiceLoopTest : public testing::Test {
 protected:
  void SetUp() override {
    auto engine = Engine::open({.model = TOKAMAK_SOURCE_DIR "/models/storyteller",
                                .backend = "cpu",
                                .context = 512,
                                .sequences = 2});
    ASSERT_TRUE(engine) << engine.error().message;
    auto made = ServiceLoop::make(*std::move(engine),
                                  {.model = "storyteller",
                                   .unix_seconds = [] { return int64_t{1}; },
                                   .random = [this] { return ++drawn_; }},
                                  metrics_, [this](std::vector<Part> parts) { take(parts); });
    ASSERT_TRUE(made) << made.error().message;
    loop_ = *std::move(made);
  }

  void take(const std::vector<Part>& parts) {
    std::unique_lock lock(mutex_);
    for (const Part& part : parts) {
      Answer& answer = answers_[part.id];
      EXPECT_FALSE(answer.has_ended);
      if (part.head) answer.head = part.head;
      answer.bytes += part.bytes;
      answer.has_ended = part.ends;
    }
    arrived_.notify_all();
    const auto is_let_go = [&] { return stops_at_ != parts.front().id; };
    EXPECT_TRUE(arrived_.wait_for(lock, kLongest, is_let_go));
  }
  /// The thread that delivers something of that call stops there; the engine's does, as in a step
  /// that takes long.
  void stop_at(std::optional<CallId> id) {
    const std::scoped_lock lock(mutex_);
    stops_at_ = id;
    arrived_.notify_all();
  }

  /// Returns the answer so far once `test` holds of it.
  template <typename Test>
  Answer wait_for(CallId id, const Test& test) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(arrived_.wait_for(lock, kLongest, [&] { return test(answers_[id]); }));
    return answers_[id];
  }
  bool has_ended(CallId id) {
    const std::scoped_lock lock(mutex_);
    return answers_[id].has_ended;
  }
  Answer wait_for_end(CallId id) {
    return wait_for(id, [](const Answer& answer) { return answer.has_ended; });
  }
  void wait_for_bytes(CallId id) {
    wait_for(id, [](const Answer& answer) { return !answer.bytes.empty(); });
  }

  void stream(CallId id, int tokens) {
    loop_->begin(id, {"POST", "/v1/completions",
                      fmt::format(R"({{"prompt": "The king", "stream": true, "max_tokens": {}, )"
                                  R"("ignore_eos": true, "seed": 1}})",
                                  tokens)});
  }

  /// Returns when what was posted to the loop so far has been done, in a turn that is over.
  void wait_for_turn() {
    const auto id = CallId(1000 + ++turns_);
    stream(id, 1);
    wait_for_end(id);
  }

  /// Whether nothing comes of the call in several turns.
  bool is_at_rest(CallId id) {
    const auto bytes = [&] {
      wait_for_turn();
      const std::scoped_lock lock(mutex_);
      return answers_[id].bytes.size();
    };
    const size_t before = bytes();
    for (int i = 0; i < 5; ++i) bytes();
    return bytes() == before;
  }

  ModelMetrics metrics_;
  uint64_t drawn_ = 0, turns_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<CallId, Answer> answers_;
  std::optional<CallId> stops_at_;
  std::unique_ptr<ServiceLoop> loop_;
};

TEST_F(ServiceLoopTest, AnswersWhatNeedsNoStep) {
  loop_->begin(kCall, {"GET", "/v1/models", ""});
  const Answer answer = wait_for_end(kCall);
  ASSERT_TRUE(answer.head);
  EXPECT_EQ(answer.head->status, 200);
  EXPECT_NE(answer.bytes.find("storyteller"), std::string::npos);
}

TEST_F(ServiceLoopTest, ReportsWhichMethodsThereAre) {
  loop_->begin(kCall, {"PUT", "/v1/models", ""});
  const Answer answer = wait_for_end(kCall);
  ASSERT_TRUE(answer.head);
  EXPECT_EQ(answer.head->status, 405);
  ASSERT_EQ(answer.head->fields.size(), 1u);
  EXPECT_EQ(answer.head->fields[0].value, "GET");
}

TEST_F(ServiceLoopTest, AnswersWhatNeedsNoStepWhileOneRuns) {
  stop_at(kCall);
  stream(kCall, 40);
  wait_for_bytes(kCall);
  const std::tuple<const char*, const char*, int> cases[] = {
      {"/v1/completions", R"({"prompt": )", 400},
      {"/v1/completions", R"({"prompt": ["a", "b"], "n": 100})", 400},
      {"/v1/embeddings", R"({"input": "a"})", 400},
      {"/tokenize", R"({"content": "The king"})", 200},
      {"/v1/nothing", "{}", 404},
  };
  uint64_t id = 10;
  for (const auto& [path, body, status] : cases) {
    loop_->begin(CallId(++id), {"POST", path, body});
    EXPECT_EQ(wait_for_end(CallId(id)).head->status, status) << path;
  }
  EXPECT_FALSE(has_ended(kCall));
  stop_at(std::nullopt);
  wait_for_end(kCall);
}

TEST_F(ServiceLoopTest, CountsTheSequencesOfARequestThatWaits) {
  stop_at(kCall);
  stream(kCall, 40);
  wait_for_bytes(kCall);
  loop_->begin(CallId(2), {"POST", "/v1/completions",
                           R"({"prompt": ["a", "b", "c"], "n": 2, "max_tokens": 1})"});
  loop_->begin(CallId(3), {"POST", "/tokenize", R"({"content": "a"})"});
  wait_for_end(CallId(3));  // the one before it is read by then
  EXPECT_EQ(loop_->stats().waiting, 6u);
  stop_at(std::nullopt);
  wait_for_end(CallId(2));
}

TEST_F(ServiceLoopTest, ComputesNothingForWhomIsHeld) {
  stream(kCall, 40);
  const std::string whole = wait_for_end(kCall).bytes;
  constexpr auto kHeld = CallId(2);
  constexpr auto kOther = CallId(3);
  stream(kHeld, 40);
  wait_for_bytes(kHeld);
  loop_->hold(kHeld, true);
  EXPECT_TRUE(is_at_rest(kHeld));
  EXPECT_EQ(loop_->stats().running, 1u);
  stream(kOther, 5);
  wait_for_end(kOther);
  EXPECT_FALSE(has_ended(kHeld));
  loop_->hold(kHeld, false);
  const auto events = [](const std::string& bytes) { return std::ranges::count(bytes, '\n'); };
  EXPECT_EQ(events(wait_for_end(kHeld).bytes), events(whole));
}

TEST_F(ServiceLoopTest, ReportsNothingMoreToWhoIsGone) {
  stream(kCall, 400);
  wait_for_bytes(kCall);
  loop_->cancel(kCall);
  wait_for_turn();
  EXPECT_EQ(loop_->stats().running, 0u);
  EXPECT_FALSE(has_ended(kCall));
  EXPECT_EQ(metrics_.counters().cancelled, 1u);
}

TEST_F(ServiceLoopTest, CountsARequestFromBeginToEnd) {
  for (uint64_t i = 1; i <= 3; ++i) {
    stream(CallId(i), 3);
    const auto is_counted = [&] {
      const SchedulerStats stats = loop_->stats();
      return stats.running + stats.waiting > 0;
    };
    // Asked before whether it has ended: it may end in between.
    for (bool counted = true, ended = false; !ended;) {
      counted = is_counted();
      ended = has_ended(CallId(i));
      ASSERT_TRUE(counted || ended || metrics_.counters().generated_tokens == 3 * i);
    }
  }
}

TEST_F(ServiceLoopTest, EndsAHeldRequestThatIsCancelled) {
  stream(kCall, 400);
  wait_for_bytes(kCall);
  loop_->hold(kCall, true);
  EXPECT_TRUE(is_at_rest(kCall));
  loop_->cancel(kCall);
  wait_for_turn();
  EXPECT_EQ(loop_->stats().running, 0u);
}

TEST_F(ServiceLoopTest, ReportsThoseItCancelsItself) {
  for (uint64_t i = 1; i <= 3; ++i) stream(CallId(i), 400);
  wait_for_bytes(CallId(1));
  loop_->cancel_all();
  const Answer begun = wait_for_end(CallId(1));
  EXPECT_EQ(begun.head->status, 200);
  EXPECT_NE(begun.bytes.find("cancelled by the server"), std::string::npos);
  EXPECT_EQ(wait_for_end(CallId(3)).head->status, 503) << "it waited";
}

TEST_F(ServiceLoopTest, CountsTokens) {
  stream(kCall, 4);
  wait_for_end(kCall);
  const std::string text = HttpMetrics().text(
      std::vector<ModelSample>{{.name = "storyteller", .counters = metrics_.counters()}}, 0);
  const auto has = [&](std::string_view line) { return text.find(line) != text.npos; };
  EXPECT_TRUE(has("generation_tokens_total{model_name=\"storyteller\"} 4\n")) << text;
  EXPECT_TRUE(has("time_to_first_token_seconds_count{model_name=\"storyteller\"} 1\n")) << text;
  EXPECT_TRUE(has("inter_token_latency_seconds_count{model_name=\"storyteller\"} 3\n")) << text;
  EXPECT_TRUE(has("finished_reason=\"length\"} 1\n")) << text;
}

}  // namespace
}  // namespace tokamak::serve
