#include "generate/schedule/prefill_budget.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(PrefillBudget, EndsWhereBothKindsOfStepsTakeAsLong) {
  PrefillBudget budget(32, 512);
  EXPECT_EQ(budget.tokens(), 32u);
  for (int i = 0; i < 20; ++i) {
    budget.decoded(0.010);
    budget.read(budget.tokens(), 0.004 + 0.00005 * budget.tokens());
  }
  EXPECT_NEAR(budget.tokens(), 120, 6);
  for (int i = 0; i < 20; ++i) budget.read(budget.tokens(), 0.00001 * budget.tokens());
  EXPECT_EQ(budget.tokens(), 512u) << "a faster device reads more, up to the most";
}

TEST(PrefillBudget, HasALeast) {
  PrefillBudget budget(32, 256);
  budget.decoded(0.001);
  for (int i = 0; i < 3; ++i) budget.read(budget.tokens(), 0.0001);
  EXPECT_EQ(budget.tokens(), 256u);
  for (int i = 0; i < 20; ++i) budget.read(budget.tokens(), 1);
  EXPECT_EQ(budget.tokens(), 32u);
}

TEST(PrefillBudget, BelievesNoSingleStep) {
  PrefillBudget budget(32, 256);
  for (int i = 0; i < 10; ++i) budget.decoded(0.010);
  budget.decoded(0.020);
  budget.read(32, 0.001);
  EXPECT_EQ(budget.tokens(), 64u) << "at most as many come at once";
  budget.read(64, 0.0055);
  EXPECT_EQ(budget.tokens(), 128u) << "a decoding step that was interrupted counts an eighth";
  budget.read(128, 10);
  EXPECT_EQ(budget.tokens(), 64u) << "at most half of it goes at once";
}

TEST(PrefillBudget, IgnoresWhatSaysNothing) {
  PrefillBudget budget(32, 256);
  budget.read(32, 0.001);
  EXPECT_EQ(budget.tokens(), 32u) << "nothing has decoded yet";
  budget.decoded(0.010);
  budget.read(15, 0.001);
  EXPECT_EQ(budget.tokens(), 32u) << "the end of a prompt";
  budget.read(32, 0);
  EXPECT_EQ(budget.tokens(), 32u) << "a clock that stands still";
}

TEST(PrefillBudget, LearnsNothingFromStepsOfManyMoreTokens) {
  PrefillBudget budget(32, 256);
  budget.decoded(0.002);
  budget.read(512, 0.009);
  EXPECT_EQ(budget.tokens(), 32u) << "a token of such a step takes a part of the time";
}

}  // namespace
}  // namespace tokamak
