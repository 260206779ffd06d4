#include "base/byte_budget.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(ByteBudget, GivesNoMoreThanItHas) {
  ByteBudget budget(10);
  std::optional<ByteBudget::Lease> first = budget.take(6);
  ASSERT_TRUE(first);
  EXPECT_FALSE(budget.take(5));
  EXPECT_FALSE(budget.take(UINT64_MAX));
  std::optional<ByteBudget::Lease> second = budget.take(4);
  EXPECT_TRUE(second);
  first.reset();
  EXPECT_EQ(budget.taken(), 4u);
  EXPECT_TRUE(budget.take(6));
}

TEST(ByteBudget, TakesALeaseBackOnce) {
  ByteBudget budget(10);
  {
    ByteBudget::Lease first = *budget.take(3);
    const ByteBudget::Lease moved = std::move(first);
    EXPECT_EQ(budget.taken(), 3u);
    ByteBudget::Lease other = *budget.take(2);
    other = *budget.take(4);
    EXPECT_EQ(budget.taken(), 7u);
  }
  EXPECT_EQ(budget.taken(), 0u);
}

}  // namespace
}  // namespace tokamak
