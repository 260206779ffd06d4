#include "generate/speculate/speculation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {

using Ids = std::vector<uint32_t>;

namespace {

TEST(SpeculationOptions, AreReadFromText) {
  const auto read = [](std::string_view text) { return *speculation_from_text(text, false); };
  EXPECT_EQ(read("off").draft_tokens, 0u);
  EXPECT_EQ(read("").draft_tokens, 0u);
  EXPECT_TRUE(read("auto").adapts);
  EXPECT_FALSE(read("auto").asks_model);
  EXPECT_FALSE(read("lookup").adapts);
  EXPECT_EQ(read("lookup").draft_tokens, read("auto").draft_tokens);
  EXPECT_EQ(read("lookup:63").draft_tokens, 63u);
  for (const bool has_model : {false, true}) {
    for (const char* wrong : {"on", "lookup:", "lookup:0", "lookup:64", "lookup:3x", "auto:3",
                              "draft:", "draft:64", "off:1", ":3"}) {
      const auto refused = speculation_from_text(wrong, has_model);
      ASSERT_FALSE(refused) << wrong;
      EXPECT_EQ(refused.error().message,
                fmt::format("speculate is \"{}\", expected off, auto, lookup, draft, or one of the "
                            "latter with a number of tokens, as lookup:1 to lookup:63.",
                            wrong));
    }
  }
}

TEST(SpeculationOptions, OfADraftModelNeedOne) {
  const auto read = [](std::string_view text) { return *speculation_from_text(text, true); };
  EXPECT_EQ(read("off").draft_tokens, 0u);
  for (const char* adapting : {"", "auto"}) {
    EXPECT_TRUE(read(adapting).adapts && read(adapting).asks_model) << adapting;
  }
  EXPECT_TRUE(read("draft").asks_model);
  EXPECT_FALSE(read("draft").adapts);
  EXPECT_EQ(read("draft:7").draft_tokens, 7u);
  EXPECT_EQ(speculation_from_text("draft:7", false).error().message,
            "speculate is \"draft:7\", but there is no draft model; name one (--draft).");
  EXPECT_EQ(
      speculation_from_text("lookup", true).error().message,
      "speculate is \"lookup\", which asks no draft model, but there is one; expected auto or "
      "draft.");
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

TEST(StepTimes, RecognizeFewRowsByThoseOfMore) {
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

TEST(Speculation, RecognizesWhatPlainStepsTakeFirst) {
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

TEST(Speculation, AlwaysDraftsWhereItIsSetTo) {
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

/// Plain steps of a second, steps that verify as long, drafts of half a second.
Speculation with_model_of_known_times() {
  Speculation speculation({.draft_tokens = 4, .adapts = true, .asks_model = true});
  for (int i = 0; i < 2; ++i) {
    speculation.decoded(1, 1, 1.0);
    for (const uint32_t rows : {2u, 4u, 8u}) speculation.verified(rows, 1.0);
    for (const uint32_t tokens : {1u, 2u, 4u}) speculation.drafted(tokens, 0.5);
  }
  return speculation;
}

TEST(Speculation, CountsWhatADraftModelTakes) {
  Speculation speculation = with_model_of_known_times();
  const DraftChance chance = {.tokens = 4, .rate = 0.5};
  EXPECT_EQ(speculation.most_drafted({&chance, 1}, 8, /*is_made=*/false), 4u);
  for (int i = 0; i < 50; ++i) {
    for (const uint32_t tokens : {1u, 2u, 4u}) speculation.drafted(tokens, 0.9);
  }
  EXPECT_EQ(speculation.most_drafted({&chance, 1}, 8, /*is_made=*/false), 0u);
  EXPECT_EQ(speculation.most_drafted({&chance, 1}, 8, /*is_made=*/true), 4u) << "it is made";
}

TEST(Speculation, ReadsByADraftModelOnlyWhatPays) {
  Speculation speculation = with_model_of_known_times();
  speculation.read(1000, 10.0);
  DraftChance chance = {.tokens = 4, .rate = 0.9, .unread = 3000, .left = 1000};
  EXPECT_EQ(speculation.most_drafted({&chance, 1}, 8, /*is_made=*/false), 4u);
  chance.left = 20;  // 30 seconds for 20 tokens
  EXPECT_EQ(speculation.most_drafted({&chance, 1}, 8, /*is_made=*/false), 0u);
}

TEST(Speculation, AsksADraftModelAgainAfterAWhile) {
  Speculation speculation = with_model_of_known_times();
  DraftRates own;
  const auto is_asked = [&] {
    const DraftChance chance = {.tokens = 4, .rate = speculation.rate(own, Drafter::kModelMatch)};
    return speculation.most_drafted({&chance, 1}, 8, /*is_made=*/false) > 0;
  };
  EXPECT_TRUE(is_asked()) << "nothing is known";
  for (int i = 0; i < 50; ++i) speculation.settled(own, Drafter::kModelMatch, 0, 4);
  uint32_t steps = 0;
  for (; !is_asked() && steps < 5000; ++steps) speculation.decided(false);
  EXPECT_GT(steps, 100u) << "nothing came true";
  EXPECT_LT(steps, 2000u);
}

}  // namespace
}  // namespace tokamak
