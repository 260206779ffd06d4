#include "hub/parts.h"

#include <gtest/gtest.h>

namespace tokamak::hub {
namespace {

TEST(Parts, CoverTheFile) {
  const Parts parts = new_parts(25, 10);
  ASSERT_EQ(parts.done.size(), 3u);
  EXPECT_EQ(parts.begin(2), 20u);
  EXPECT_EQ(parts.end(1), 20u);
  EXPECT_EQ(parts.end(2), 25u);
  EXPECT_TRUE(new_parts(0, 10).done.empty());
  EXPECT_EQ(new_parts(20, 10).done.size(), 2u);
}

TEST(Parts, AreReadAsTheyWereWritten) {
  Parts parts = new_parts(25, 10);
  parts.done = {10, 3, 0};
  const auto read = parse_parts(format_parts(parts), 25);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->done, parts.done);
  EXPECT_EQ(read->part_bytes, 10u);
  EXPECT_EQ(read->total_done(), 13u);
}

TEST(Parts, HaveTheirCountsWhereTheyAreWrittenInPlace) {
  Parts parts = new_parts(25, 10);
  std::string text = format_parts(parts);
  text.replace(count_offset(1), format_count(7).size(), format_count(7));
  EXPECT_EQ(parse_parts(text, 25)->done, (std::vector<uint64_t>{0, 7, 0}));
}

TEST(Parts, OfAnythingElseAreNone) {
  const std::string good = format_parts(new_parts(25, 10));
  EXPECT_TRUE(parse_parts(good, 25));
  EXPECT_FALSE(parse_parts(good, 24));
  for (size_t i = 0; i < good.size(); ++i) EXPECT_FALSE(parse_parts(good.substr(0, i), 25)) << i;
  EXPECT_FALSE(parse_parts(good + "\n", 25));
  EXPECT_FALSE(parse_parts(good + format_count(0), 25));
  const auto with_count = [&](size_t part, uint64_t count) {
    std::string text = good;
    return parse_parts(text.replace(count_offset(part), 21, format_count(count)), 25);
  };
  EXPECT_TRUE(with_count(2, 5));
  EXPECT_FALSE(with_count(2, 6));
  EXPECT_FALSE(with_count(0, 11));
  EXPECT_FALSE(with_count(0, UINT64_MAX));
  EXPECT_FALSE(
      parse_parts("tokamak-parts 1 " + format_count(25).substr(0, 20) + " " + format_count(0), 25));
}

}  // namespace
}  // namespace tokamak::hub
