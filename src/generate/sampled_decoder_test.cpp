#include "generate/sampled_decoder.h"

#include <gtest/gtest.h>

#include "generate/fake_sampler_test.h"

namespace tokamak {
namespace {

/// Draws `count` tokens after `first`; gives how many of them each call of run() drew.
std::vector<size_t> draw(FakeSampler& program, uint32_t first, uint32_t count,
                         Readbacks& readbacks) {
  Session session = *Session::start(program, 256, 256);
  Sampler sampler = *Sampler::make({.temperature = 1, .top_k = 4, .seed = 1});
  SampledDecoder decoding(session, sampler);
  std::vector<uint32_t> history = {first};
  std::vector<size_t> calls;
  while (history.size() <= count) {
    const size_t before = history.size();
    const auto status =
        decoding.run(count + 1 - uint32_t(before), history, before - 1, [&](uint32_t id) {
          history.push_back(id);
          return true;
        });
    EXPECT_TRUE(status) << status.error().message;
    if (!status) break;
    calls.push_back(history.size() - before);
  }
  readbacks = decoding.readbacks();
  return calls;
}

TEST(SampledDecoder, RunsAheadWhileListsAreEnough) {
  FakeSampler program;
  Readbacks readbacks;
  EXPECT_EQ(draw(program, 10, 40, readbacks), (std::vector<size_t>{40}));
  EXPECT_EQ(readbacks.lists, 40u);
  EXPECT_EQ(readbacks.guesses, 40u);
  EXPECT_EQ(readbacks.wrong, 0u);
}

/// As many as it costs to take back what the device has run too far.
TEST(SampledDecoder, RunsAheadAgainAfterListsThatWereEnough) {
  for (const bool is_recurrent : {false, true}) {
    FakeSampler program(is_recurrent);
    program.insufficient = {15};
    const size_t alone = is_recurrent ? 16 : 8;
    Readbacks readbacks;
    // Any token may come out of the logits of the FakeSampler, which are equal; the rest follows
    // it.
    const std::vector<size_t> calls = draw(program, 10, 60, readbacks);
    ASSERT_GT(calls.size(), alone + 1);
    EXPECT_EQ(calls[0], 5u) << "11 to 14, and one from all logits";
    for (size_t i = 1; i <= alone; ++i) EXPECT_EQ(calls[i], 1u) << i;
    EXPECT_GT(calls[alone + 1], 1u);
    EXPECT_GE(readbacks.all, 1u);
  }
}

}  // namespace
}  // namespace tokamak
