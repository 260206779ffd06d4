#include "base/percent.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(Percent, IsDecodedWhereItIsAnEscape) {
  EXPECT_EQ(percent_decoded("org%2Fmodel%3a"), "org/model:");
  EXPECT_EQ(percent_decoded("100% %2 %zz%"), "100% %2 %zz%");
}

}  // namespace
}  // namespace tokamak
