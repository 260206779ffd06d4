#include "serve/http/body_lease.h"

#include <gtest/gtest.h>

namespace tokamak::serve {
namespace {

constexpr uint64_t kFree = BodyLease::kFreeBytes;

TEST(BodyLease, RefusesWhatIsBeyondIt) {
  const auto budget = std::make_shared<ByteBudget>(100);
  BodyLease one(budget), two(budget);
  EXPECT_TRUE(one.cover(kFree + 60));
  EXPECT_FALSE(two.cover(kFree + 41));
  EXPECT_TRUE(two.cover(kFree + 40));
  EXPECT_TRUE(one.cover(kFree + 60)) << "it has them";
  EXPECT_FALSE(one.cover(kFree + 61));
  EXPECT_EQ(budget->taken(), 100u);
}

TEST(BodyLease, IsFreeAgainWhenTheBodyIsGone) {
  const auto budget = std::make_shared<ByteBudget>(100);
  {
    BodyLease lease(budget);
    EXPECT_TRUE(lease.cover(kFree + 100));
    const BodyLease moved = std::move(lease);
    EXPECT_EQ(budget->taken(), 100u);
  }
  EXPECT_EQ(budget->taken(), 0u);
}

TEST(BodyLease, RefusesNoSmallBody) {
  const auto budget = std::make_shared<ByteBudget>(0);
  BodyLease lease(budget);
  EXPECT_TRUE(lease.cover(kFree));
  EXPECT_FALSE(lease.cover(kFree + 1));
}

}  // namespace
}  // namespace tokamak::serve
