#include "generate/speculation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {
namespace {

using Ids = std::vector<uint32_t>;

TEST(SpeculationOptions, AreReadFromText) {
  const auto read = [](std::string_view text) { return *speculation_from_text(text); };
  EXPECT_EQ(read("off").draft_tokens, 0u);
  EXPECT_TRUE(read("auto").adapts);
  EXPECT_FALSE(read("lookup").adapts);
  EXPECT_EQ(read("lookup").draft_tokens, read("auto").draft_tokens);
  EXPECT_EQ(read("lookup:63").draft_tokens, 63u);
  for (const char* wrong : {"", "on", "lookup:", "lookup:0", "lookup:64", "lookup:3x", "auto:3"}) {
    const auto refused = speculation_from_text(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(
        refused.error().message,
        fmt::format("speculate is \"{}\", expected off, auto, lookup or lookup:1 to 63.", wrong));
  }
}

TEST(DraftRates, FollowWhatCameTrueForMatchesOfThatLength) {
  DraftRates rates;
  EXPECT_DOUBLE_EQ(rates.rate(3, 0.6), 0.6) << "nothing is known";
  for (uint32_t i = 0; i < 100; ++i) rates.took(3, 0, 4);
  EXPECT_LT(rates.rate(3, 0.6), 0.06);
  EXPECT_DOUBLE_EQ(rates.rate(16, 0.6), 0.6) << "of longer matches nothing is known yet";
  for (uint32_t i = 0; i < 100; ++i) rates.took(3, 4, 4);
  EXPECT_GT(rates.rate(3, 0.6), 0.95) << "the last ones count";
}

TEST(DraftRates, CountTheTokensThatWereDecided) {
  DraftRates rates;
  // Two came true, the third did not, and of the fourth nobody knows.
  for (uint32_t i = 0; i < 200; ++i) rates.took(1, 2, 4);
  EXPECT_NEAR(rates.rate(1, 0.5), 2.0 / 3, 0.03);
}

TEST(StepTimes, KnowFewRowsByThoseOfMore) {
  StepTimes times;
  EXPECT_EQ(times.seconds(1), 0);
  times.took(8, 0);
  EXPECT_EQ(times.seconds(8), 0) << "no time says nothing";
  for (int i = 0; i < 2; ++i) times.took(8, 3.0);
  EXPECT_EQ(times.seconds(5), 3.0) << "the same kernels";
  EXPECT_EQ(times.seconds(1), 3.0) << "nothing else is known";
  EXPECT_EQ(times.seconds(64), 3.0) << "no less than fewer take";
  for (int i = 0; i < 2; ++i) times.took(1, 1.0);
  EXPECT_EQ(times.seconds(1), 1.0);
  EXPECT_EQ(times.seconds(8), 3.0);
}

TEST(StepTimes, BelieveNoSingleStep) {
  StepTimes times;
  times.took(4, 50.0);
  EXPECT_EQ(times.seconds(4), 0) << "the first one met cold caches";
  times.took(4, 1.0);
  EXPECT_EQ(times.seconds(4), 1.0);
  times.took(4, 1000.0);
  EXPECT_LT(times.seconds(4), 1.3) << "it was interrupted";
  for (int i = 0; i < 20; ++i) times.took(4, 2.0);
  EXPECT_NEAR(times.seconds(4), 2.0, 0.02);
}

TEST(StepTimes, AreDoubtedUntilTheyAreTakenAgain) {
  StepTimes times;
  for (int i = 0; i < 2; ++i) times.took(8, 4.0);
  for (int i = 0; i < 200; ++i) times.fade(0.99);
  EXPECT_LT(times.seconds(8), 2.0);
  times.took(8, 4.0);
  EXPECT_EQ(times.seconds(8), 4.0) << "it still takes as long";
}

/// One that knows that steps take so long: plain ones, and those that verify up to 16 rows.
Speculation timed(double plain, double verify) {
  Speculation speculation({.draft_tokens = 15, .adapts = true});
  for (int i = 0; i < 4; ++i) speculation.decoded(1, 1, plain);
  for (const uint32_t rows : {2u, 4u, 8u, 16u}) {
    for (int i = 0; i < 2; ++i) speculation.verified(rows, verify);
  }
  return speculation;
}

uint32_t drafted(Speculation& speculation, const DraftChance& chance, uint32_t max_rows = 16) {
  const uint32_t most = speculation.most_drafted({&chance, 1}, max_rows);
  speculation.decided(most > 0);
  return most;
}

TEST(Speculation, DraftsWhereMoreTokensComeInTheTime) {
  Speculation cheap = timed(1, 1.2);
  EXPECT_GT(drafted(cheap, {.tokens = 15, .rate = 0.7}), 3u);
  EXPECT_EQ(drafted(cheap, {.tokens = 15, .rate = 0.1}), 0u) << "1.1 tokens in the time of 1.2";
  EXPECT_EQ(drafted(cheap, {.tokens = 0, .rate = 0.9}), 0u);
  EXPECT_LE(drafted(cheap, {.tokens = 15, .rate = 0.9}, 8), 7u) << "that many rows";
  Speculation dear = timed(1, 8);
  EXPECT_EQ(drafted(dear, {.tokens = 15, .rate = 0.8}), 0u) << "5 tokens in the time of 8";
  EXPECT_GT(drafted(dear, {.tokens = 15, .rate = 0.98}), 10u) << "14 of them";
}

TEST(Speculation, KnowsWhatPlainStepsTakeFirst) {
  Speculation speculation({.draft_tokens = 15, .adapts = true});
  EXPECT_EQ(drafted(speculation, {.tokens = 15, .rate = 0.99}), 0u);
  for (int i = 0; i < 2; ++i) speculation.decoded(1, 4, 1.0);
  EXPECT_GT(drafted(speculation, {.tokens = 15, .rate = 0.99}), 0u);
}

TEST(Speculation, DraftsFewerWhereRowsAreDear) {
  Speculation speculation({.draft_tokens = 15, .adapts = true});
  for (int i = 0; i < 2; ++i) {
    speculation.decoded(1, 1, 1);
    for (const uint32_t rows : {2u, 4u, 8u, 16u}) speculation.verified(rows, 0.9 + 0.1 * rows);
  }
  const uint32_t likely = drafted(speculation, {.tokens = 15, .rate = 0.95});
  const uint32_t unlikely = drafted(speculation, {.tokens = 15, .rate = 0.5});
  EXPECT_GT(likely, 7u);
  EXPECT_GE(unlikely, 1u);
  EXPECT_LE(unlikely, 3u);
}

TEST(Speculation, DoesNotStopTheDeviceForWhatWillBeOver) {
  Speculation speculation = timed(1, 1.5);
  EXPECT_GT(drafted(speculation, {.tokens = 15, .rate = 0.8}), 0u);
  EXPECT_EQ(drafted(speculation, {.tokens = 15, .rate = 0.8, .lag = 12}), 0u);
  EXPECT_EQ(drafted(speculation, {.tokens = 12, .rate = 1, .lag = 12}), 0u) << "nothing is left";
}

TEST(Speculation, WeighsAllSequencesOfAStep) {
  Speculation speculation({.draft_tokens = 15, .adapts = true});
  for (int i = 0; i < 2; ++i) {
    speculation.decoded(4, 1, 1);
    for (const uint32_t rows : {8u, 16u, 32u, 64u}) speculation.verified(rows, 1.5);
  }
  const DraftChance good = {.tokens = 15, .rate = 0.9}, none = {};
  const DraftChance one[] = {good, none, none, none}, all[] = {good, good, good, good};
  EXPECT_GT(speculation.most_drafted(all, 64), 4u);
  EXPECT_GT(speculation.most_drafted(one, 64), 4u) << "4 + 5 tokens in the time of 6";
  const DraftChance poor[] = {{.tokens = 15, .rate = 0.4}, none, none, none};
  EXPECT_EQ(speculation.most_drafted(poor, 64), 0u) << "4.7 tokens in the time of 6";
}

TEST(Speculation, AlwaysDraftsWhereItIsTold) {
  Speculation speculation({.draft_tokens = 5, .adapts = false});
  EXPECT_EQ(drafted(speculation, {.tokens = 5, .rate = 0.01}), 5u);
  EXPECT_EQ(drafted(speculation, {.tokens = 5, .rate = 0.01}, 4), 3u);
}

TEST(Speculation, TriesSeldomWhatDidNotPay) {
  Speculation speculation = timed(1, 3);
  uint32_t tries = 0;
  constexpr uint32_t kSteps = 3000;
  for (uint32_t i = 0; i < kSteps; ++i) {
    const uint32_t most = drafted(speculation, {.tokens = 15, .rate = 0.6});
    if (most == 0) continue;
    ++tries;
    speculation.verified(1 + most, 3);
  }
  EXPECT_GT(tries, 2u) << "times may have changed";
  EXPECT_LT(tries, kSteps / 50);
}

TEST(Speculation, ComparesWithPlainStepsNowAndThen) {
  Speculation speculation = timed(1, 1.5);
  uint32_t plain = 0;
  constexpr uint32_t kSteps = 3000;
  for (uint32_t i = 0; i < kSteps; ++i) {
    if (drafted(speculation, {.tokens = 15, .rate = 0.8}) > 0) continue;
    ++plain;
    speculation.decoded(1, 4, 1);
  }
  EXPECT_GT(plain, 1u);
  EXPECT_LT(plain, kSteps / 100);
}

TEST(Drafter, SeesWhatCameOfItsDrafts) {
  Speculation speculation({.draft_tokens = 4, .adapts = false});
  Drafter drafter;
  Ids ids = {1, 2, 3, 4, 5, 6, 1, 2, 3};
  drafter.propose(ids, 4, 100, speculation);
  const double before = drafter.rate(speculation);
  EXPECT_EQ(Ids(drafter.draft().begin(), drafter.draft().end()), (Ids{4, 5, 6, 1}));
  for (uint32_t i = 0; i < 40; ++i) {  // they never come true
    ids.insert(ids.end(), {50 + i, 1, 2, 3});
    drafter.propose(ids, 4, 100, speculation);
  }
  EXPECT_LT(drafter.rate(speculation), before / 3);
}

TEST(Drafter, DraftsNoTokenOfAnImage) {
  Speculation speculation({.draft_tokens = 4, .adapts = false});
  Drafter drafter;
  const Ids ids = {1, 2, 3, 7, 100, 101, 1, 2, 3};
  EXPECT_EQ(drafter.propose(ids, 4, 100, speculation).ids, Ids{7});
}

}  // namespace
}  // namespace tokamak
