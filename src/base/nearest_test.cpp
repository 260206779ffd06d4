#include "base/nearest.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

constexpr std::string_view kWords[] = {"linear", "linear_glu", "rope", "route", "add"};

TEST(Nearest, FindsWhatDiffersInAFewLetters) {
  EXPECT_EQ(nearest_word("linaer", kWords), "linear");
  EXPECT_EQ(nearest_word("linear_gul", kWords), "linear_glu");
  EXPECT_EQ(nearest_word("rout", kWords), "route");
  EXPECT_EQ(did_you_mean("ropes", kWords), " (did you mean rope?)");
}

TEST(Nearest, FindsNothingForOtherWords) {
  EXPECT_EQ(nearest_word("softcap", kWords), "");
  EXPECT_EQ(nearest_word("", kWords), "");
  EXPECT_EQ(nearest_word(std::string(1 << 20, 'a'), kWords), "");
  EXPECT_EQ(did_you_mean("softcap", kWords), "");
  EXPECT_EQ(nearest_word("rope", {}), "");
}

}  // namespace
}  // namespace tokamak
