#include "base/duration_text.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(DurationText, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_seconds("30"), 30);
  EXPECT_EQ(parse_seconds("30", 'd'), 30 * 86400);
  EXPECT_EQ(parse_seconds("0"), 0);
  EXPECT_EQ(parse_seconds("45s"), 45);
  EXPECT_EQ(parse_seconds("5m"), 300);
  EXPECT_EQ(parse_seconds("1.5h"), 5400);
  EXPECT_EQ(parse_seconds("1h30m"), 5400);
  EXPECT_EQ(parse_seconds("2w", 's'), 2 * 7 * 86400);
}

TEST(DurationText, RefusesTheRest) {
  for (const char* text :
       {"", "s", "5x", "-1", "-1h", "1h30", "1 h", "nan", "inf", "1e99", "1e3d", "5mm"}) {
    EXPECT_EQ(parse_seconds(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tokamak
