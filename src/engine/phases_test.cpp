#include "engine/phases.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

using Names = std::vector<std::string>;

Names names_of(const PhaseFacts& facts) {
  Names names;
  for (const PhaseSpec& phase : phases_of(facts)) names.push_back(phase.name);
  return names;
}

TEST(Phases, AnEncoderHasNoChoiceOfTokens) {
  EXPECT_EQ(names_of({.chunk = 64}), (Names{"prefill", "small_batch", "decode"}));
  EXPECT_EQ(names_of({.chunk = 1}), Names{"decode"});
}

TEST(Phases, LongerChunksHaveShorterOnesBesideThem) {
  PhaseFacts facts = {.chunk = 1024, .gives_text = true, .is_parallel = true};
  EXPECT_EQ(names_of(facts),
            (Names{"prefill", "short_64", "small_batch", "decode", "sampled", "greedy"}));
  facts.has_matrix = true;
  EXPECT_EQ(names_of(facts)[1], "short");
  EXPECT_EQ(phases_of(facts)[2].steps, fuse::Steps::kShort);
  facts.is_parallel = false;
  EXPECT_EQ(phases_of(facts)[2].name, "small_batch");
  EXPECT_EQ(phases_of(facts)[2].steps, fuse::Steps::kMany) << "fused as longer steps are";
}

TEST(Phases, LongContextsFollowWhatTheyTakeThePlaceOf) {
  const PhaseFacts facts = {.context = 8193, .gives_text = true};
  EXPECT_EQ(names_of(facts),
            (Names{"decode", "decode_long", "sampled", "sampled_long", "greedy", "greedy_long"}));
  EXPECT_EQ(phases_of(facts)[1].from_position, 8192u);
}

TEST(Phases, SequencesDecodeInStepsOfAFewSizes) {
  PhaseFacts facts = {.sequences = 40, .gives_text = true};
  EXPECT_EQ(names_of(facts), (Names{"decode", "sampled", "greedy", "sampled_8", "greedy_8",
                                    "sampled_32", "greedy_32", "sampled_40", "greedy_40"}));
  facts.has_few_rows = true;
  EXPECT_EQ(names_of(facts)[3], "sampled_4");
  EXPECT_EQ(names_of(facts)[5], "sampled_8");
  facts.sequences = 3;
  EXPECT_EQ(names_of(facts).back(), "greedy_3");
  facts.sequences = 40;
  facts.by_rows = false;
  EXPECT_EQ(names_of(facts), (Names{"decode", "sampled", "greedy", "sampled_40", "greedy_40"}));
  for (const PhaseSpec& phase : phases_of(facts)) {
    EXPECT_EQ(phase.steps, fuse::Steps::kMany) << phase.name;
  }
}

TEST(Phases, DraftsAreVerifiedInStepsOfAsManyTokens) {
  PhaseFacts facts = {.chunk = 64, .sequences = 3, .gives_text = true, .draft_tokens = 4};
  EXPECT_EQ(phases_of(facts).back().name, "verify_15");
  EXPECT_EQ(names_of(facts)[names_of(facts).size() - 2], "verify_8");
  facts.sequences = 1;
  EXPECT_EQ(phases_of(facts).back().name, "verify_5");
}

TEST(Phases, WhatIsReadBesideTokensHasGraphsOfItsOwn) {
  const PhaseFacts facts = {.chunk = 8, .images = 1, .sound_rows = {300, 100}, .sound = 2};
  const std::vector<PhaseSpec> phases = phases_of(facts);
  ASSERT_EQ(phases.size(), 5u);
  EXPECT_EQ(phases[1].name, "images");
  EXPECT_EQ(phases[1].graph, 1u);
  EXPECT_EQ(phases[3].kind, PhaseKind::kSound);
  EXPECT_EQ(phases[3].graph, 3u);
  EXPECT_EQ(phases[3].max_rows, 100u);
  EXPECT_EQ(phases[4].name, "decode");
}

}  // namespace
}  // namespace tokamak
