#include "invariants/batch_requests.h"

#include <gtest/gtest.h>

#include <random>

namespace tokamak::golden {

std::vector<Request> requests_for(uint32_t vocab) {
  std::mt19937 random(5);
  std::vector<uint32_t> shared(40);
  for (uint32_t& id : shared) id = uint32_t(random()) % vocab;
  std::vector<Request> all(kRequests);
  for (uint32_t i = 0; i < kRequests; ++i) {
    Request& one = all[i];
    if (i % 2 == 1) one.prompt.assign(shared.begin(), shared.begin() + 17 + 3 * i);
    for (uint32_t n = 1 + 5 * i; n > 0; --n) one.prompt.push_back(uint32_t(random()) % vocab);
    one.params.sampling.temperature = i % 3 == 0 ? 0 : 0.9;
    one.params.sampling.top_k = i % 3 == 2 ? 20 : 0;
    one.params.sampling.seed = 100 + i;
    one.params.max_tokens = 12 + i;
    one.params.prompt_logprobs = i % 3 == 1;
  }
  return all;
}

namespace {

Text text_of(const Generation& done) {
  Text text{done.ids, {}};
  for (const Logprobs& one : done.prompt_logprobs) text.scores.push_back(one.chosen.logprob);
  return text;
}

}  // namespace

Outcome run_all(Engine& engine, const std::vector<Request>& requests) {
  Outcome outcome;
  const auto scheduler = engine.scheduler();
  EXPECT_TRUE(scheduler) << scheduler.error().message;
  if (!scheduler) return outcome;
  const auto add = [&](uint32_t i) {
    Request own = requests[i];
    own.done = [&outcome, i](Result<Generation> done) {
      EXPECT_TRUE(done) << done.error().message;
      if (done) outcome.texts[i] = text_of(*done);
    };
    const auto added = (*scheduler)->add(std::move(own));
    EXPECT_TRUE(added) << added.error().message;
  };
  for (uint32_t i = 0; i < requests.size(); ++i) {
    add(i);
    for (uint32_t n = 0; n < 2; ++n) {
      EXPECT_TRUE((*scheduler)->step());
      EXPECT_TRUE((*scheduler)->wait());
    }
  }
  const auto ran = (*scheduler)->run();
  EXPECT_TRUE(ran) << ran.error().message;
  outcome.stats = (*scheduler)->stats();
  return outcome;
}

std::vector<Text> run_alone(Engine& engine, const std::vector<Request>& requests) {
  std::vector<Text> all;
  for (const Request& request : requests) {
    const auto scheduler = engine.scheduler();
    EXPECT_TRUE(scheduler) << scheduler.error().message;
    Text text;
    Request own = request;
    own.done = [&](Result<Generation> done) {
      EXPECT_TRUE(done) << done.error().message;
      if (done) text = text_of(*done);
    };
    EXPECT_TRUE((*scheduler)->add(std::move(own)));
    EXPECT_TRUE((*scheduler)->run());
    EXPECT_EQ(text.scores.size(), request.params.prompt_logprobs ? request.prompt.size() - 1 : 0);
    all.push_back(std::move(text));
  }
  return all;
}

void expect_same(const std::vector<Text>& alone, const Outcome& together, bool is_exact) {
  ASSERT_EQ(together.texts.size(), alone.size());
  size_t equal = 0;
  for (uint32_t i = 0; i < alone.size(); ++i) {
    const Text& text = together.texts.at(i);
    EXPECT_FALSE(text.ids.empty());
    EXPECT_TRUE(!is_exact || text == alone[i]) << "request " << i;
    EXPECT_EQ(text.scores.size(), alone[i].scores.size());
    equal += text.ids == alone[i].ids ? 1 : 0;
  }
  EXPECT_GE(equal, is_exact ? alone.size() : alone.size() - 1);
}

}  // namespace tokamak::golden
