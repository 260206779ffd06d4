#include "generate/pages/checkpoints.h"

#include <gtest/gtest.h>

namespace tokamak {

using Ids = std::vector<uint32_t>;

namespace {

TEST(Checkpoints, FindsTheLongestPrefixOfItsTenant) {
  Checkpoints checkpoints(4);
  const auto two = checkpoints.add("a", Ids{1, 2});
  const auto three = checkpoints.add("a", Ids{1, 2, 3});
  ASSERT_TRUE(two && three);
  EXPECT_NE(two, three);
  const auto found = checkpoints.find("a", Ids{1, 2, 3, 4});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->number, *three);
  EXPECT_EQ(found->tokens, 3u);
  EXPECT_EQ(checkpoints.find("a", Ids{1, 2, 4})->number, *two);
  EXPECT_FALSE(checkpoints.find("a", Ids{1}));
  EXPECT_FALSE(checkpoints.find("b", Ids{1, 2, 3})) << "another tenant's";
}

TEST(Checkpoints, ReplacesTheOneUsedLongestAgo) {
  Checkpoints checkpoints(2);
  const auto first = checkpoints.add("", Ids{1});
  checkpoints.add("", Ids{2});
  EXPECT_FALSE(checkpoints.add("", Ids{1})) << "it is there; and it was used now";
  checkpoints.add("", Ids{3});
  EXPECT_EQ(checkpoints.find("", Ids{1})->number, *first);
  EXPECT_FALSE(checkpoints.find("", Ids{2}));
  checkpoints.clear();
  EXPECT_FALSE(checkpoints.find("", Ids{1}));
  EXPECT_FALSE(Checkpoints(0).add("", Ids{1}));
}

}  // namespace
}  // namespace tokamak
