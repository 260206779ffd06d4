#include "text/unicode/clusters.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(ClusterPrefix, EndsBetweenClusters) {
  EXPECT_EQ(cluster_prefix("abc", 3), "abc");
  EXPECT_EQ(cluster_prefix("abc", 2), "ab");
  EXPECT_EQ(cluster_prefix("ae\u0301x", 3), "a") << "an accent stays with its letter";
  EXPECT_EQ(cluster_prefix("ae\u0301x", 4), "ae\u0301");
  EXPECT_EQ(cluster_prefix("a\U0001F469\u200D\U0001F680b", 8), "a") << "an astronaut";
  EXPECT_EQ(cluster_prefix("a\U0001F1E9\U0001F1EAb", 6), "a") << "a flag";
  EXPECT_EQ(cluster_prefix("a\U0001F1E9\U0001F1EAb", 9), "a\U0001F1E9\U0001F1EA");
  EXPECT_EQ(cluster_prefix("\u05E9\u05C1\u05B8x", 5), "\u05E9\u05C1") << "longer than all";
}

}  // namespace
}  // namespace tokamak
