// One model and many threads; the thread sanitizer (preset tsan) shows that none reads what another
// writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "tokamak/tokamak.h"

namespace tokamak {
namespace {

using namespace std::chrono_literals;

constexpr const char* kModel = TOKAMAK_SOURCE_DIR "/models/storyteller";
constexpr uint32_t kCallers = 8, kKinds = 6;

ModelOptions small() {
  ModelOptions options;
  options.model = kModel;
  options.backend = "cpu";
  options.context = 64;
  options.sequences = 4;
  options.cache_tokens = 128;  // too few for four, so that they take each other's pages
  return options;
}

/// Request `kind` of some that exist: the same every time.
TextRequest request_of(uint32_t kind) {
  TextRequest request;
  request.prompt = kind % 2 == 0 ? "Once upon a time" : "The old king said to the fox";
  request.max_tokens = 3 + kind;
  request.temperature = kind % 3 == 0 ? 0 : 1.1;
  request.seed = kind;
  request.logprobs = kind == 4;
  if (kind == 5) request.grammar = R"(root ::= ([a-z] | " ")*)";
  request.tenant = kind == 2 ? "other" : "";
  return request;
}

TEST(ModelThreads, EveryCallerGetsItsOwnTokens) {
  auto model = Model::open(small());
  ASSERT_TRUE(model) << model.error().message;
  std::vector<std::vector<uint32_t>> alone;
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    auto stream = model->start(request_of(kind));
    ASSERT_TRUE(stream) << stream.error().message;
    alone.push_back(stream->result()->ids);
  }
  std::atomic<uint32_t> whole = 0, cut = 0;
  const auto call = [&](uint32_t caller) {
    std::mt19937 random(caller);
    for (uint32_t i = 0; i < 4; ++i) {
      const auto kind = uint32_t(random() % kKinds);
      TextRequest request = request_of(kind);
      request.priority = int(random() % 2);
      const auto what = uint32_t(random() % 6);
      if (what == 0) request.deadline = 2ms;
      auto stream = model->start(request);
      ASSERT_TRUE(stream) << stream.error().message;
      if (what == 1) continue;  // dropped before it has begun
      if (what == 4) {
        EXPECT_TRUE(stream->result()) << "and read only then";
      }
      std::vector<uint32_t> ids;
      while (!stream->ended()) {
        const auto piece = stream->next(what == 2 ? 1ms : 10s);
        if (!piece) continue;
        for (const TextPiece::Token& token : piece->tokens) ids.push_back(token.id);
        if (what == 3) stream->cancel();
      }
      const auto result = stream->result();
      ASSERT_TRUE(result) << result.error().message;
      EXPECT_EQ(ids, result->ids);
      const bool is_cut = result->finish == FinishReason::kCancelled;
      ++(is_cut ? cut : whole);
      ASSERT_LE(ids.size(), alone[kind].size());
      EXPECT_TRUE(std::ranges::equal(ids, std::span(alone[kind]).first(ids.size())));
      EXPECT_TRUE(is_cut || ids.size() == alone[kind].size());
      EXPECT_TRUE(model->tokenize("a fox"));
      const std::vector<std::string> texts = {"a fox"};
      EXPECT_EQ(model->embed(texts).error().code, ErrorCode::kUnsupported);
    }
  };
  std::vector<std::jthread> callers;
  for (uint32_t i = 0; i < kCallers; ++i) callers.emplace_back(call, i);
  callers.clear();
  EXPECT_GT(whole, kCallers);
  EXPECT_GT(cut, 0u);
}

TEST(ModelThreads, EmbedOneAfterTheOther) {
  ModelOptions options = small();
  options.sequences = 1;
  options.cache_tokens = 0;
  options.pooling = "mean";
  auto model = Model::open(options);
  ASSERT_TRUE(model) << model.error().message;
  const std::vector<std::string> texts = {"A fox", "The sea"};
  const auto alone = model->embed(texts);
  ASSERT_TRUE(alone) << alone.error().message;
  std::vector<std::jthread> callers;
  for (uint32_t i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] { EXPECT_EQ(*model->embed(texts), *alone); });
  }
}

TEST(ModelThreads, CallWithoutAServerUntilTheModelCloses) {
  auto model = Model::open(small());
  ASSERT_TRUE(model) << model.error().message;
  const std::string body = R"({"prompt": "Once", "max_tokens": 9, "stream": true})";
  std::atomic<uint32_t> ended = 0, whole = 0;
  const auto work = [&](uint32_t caller) {
    for (uint32_t i = 0;; ++i) {
      auto call = model->call("/v1/completions", body);
      if (!call) {
        EXPECT_EQ(call.error().code, ErrorCode::kUsage) << call.error().message;
        ++ended;
        return;
      }
      std::atomic<uint32_t> rings = 0;
      call->on_ready([&] { ++rings; });
      const bool is_left = (caller + i) % 3 == 0;
      if (is_left) call->cancel();
      while (call->next() && !(is_left && i % 2 == 0)) {
      }
      whole += call->ended() && !is_left;
      EXPECT_TRUE(is_left || rings > 0);
      call->on_ready(nullptr);
    }
  };
  std::vector<std::jthread> callers;
  for (uint32_t i = 0; i < kCallers; ++i) callers.emplace_back(work, i);
  while (whole < kCallers) std::this_thread::yield();
  model->close();
  callers.clear();
  EXPECT_EQ(ended, kCallers);
}

TEST(ModelThreads, ClosingEndsWhatRuns) {
  auto model = Model::open(small());
  ASSERT_TRUE(model) << model.error().message;
  std::atomic<uint32_t> started = 0, ended = 0;
  const auto call = [&] {
    // Until the model closes.
    for (;;) {
      auto stream = model->start({.prompt = "Once", .max_tokens = 60});
      ++started;
      if (!stream) {
        EXPECT_EQ(stream.error().code, ErrorCode::kUsage) << stream.error().message;
        ++ended;
        return;
      }
      while (stream->next()) {
      }
      EXPECT_TRUE(stream->result()) << "cancelled is no error";
    }
  };
  std::vector<std::jthread> callers;
  for (uint32_t i = 0; i < kCallers; ++i) callers.emplace_back(call);
  while (started < kCallers) std::this_thread::yield();
  // It waits until nobody else does, which is when the model closes.
  auto reader = model->start({.prompt = "Once upon", .priority = -1});
  std::jthread other([&] { model->close(); });
  model->close();
  callers.clear();
  EXPECT_EQ(ended, kCallers);
  EXPECT_EQ(reader->result()->finish, FinishReason::kCancelled);
  other.join();
  model = Failure(Error{});  // the model is gone, the stream is not
  while (reader->next()) {
  }
  EXPECT_TRUE(reader->ended());
}

}  // namespace
}  // namespace tokamak
