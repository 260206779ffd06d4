#include "generate/sample/top_k_policy.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(TopKPolicy, AllowsRunningAheadAgainWhenListsHaveBeenEnough) {
  for (const bool is_recurrent : {false, true}) {
    TopKPolicy trust(is_recurrent);
    EXPECT_TRUE(trust.allows_run_ahead());
    trust.was_not_enough();
    EXPECT_TRUE(trust.wants_list()) << "one miss may be an accident";
    uint32_t lists = 0;
    for (; !trust.allows_run_ahead(); ++lists) trust.was_enough();
    EXPECT_EQ(lists, is_recurrent ? 16u : 8u) << "as many steps as the miss has cost";
  }
}

TEST(TopKPolicy, AsksForFewerListsTheMoreAreNotEnough) {
  TopKPolicy trust(false);
  for (const uint32_t pause : {0u, 1u, 3u, 7u, 15u, 31u, 63u, 63u}) {
    trust.was_not_enough();
    uint32_t steps = 0;
    for (; !trust.wants_list(); ++steps) trust.made_no_list();
    EXPECT_EQ(steps, pause);
  }
  trust.was_enough();
  trust.was_not_enough();
  EXPECT_TRUE(trust.wants_list()) << "those in a row count";
}

}  // namespace
}  // namespace tokamak
