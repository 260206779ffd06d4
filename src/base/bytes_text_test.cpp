#include "base/bytes_text.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(BytesText, HasTwoDigitsAfterThePoint) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(uint64_t{3} << 30), "3.00 GiB");
}

TEST(ParseBytes, TakesUnitsInAnyOfTheirSpellings) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("500"), 500u);
  EXPECT_EQ(parse_bytes("500B"), 500u);
  EXPECT_EQ(parse_bytes("64K"), 65536u);
  EXPECT_EQ(parse_bytes("3MB"), uint64_t{3} << 20);
  EXPECT_EQ(parse_bytes("16GiB"), uint64_t{16} << 30);
  EXPECT_EQ(parse_bytes("2T"), uint64_t{2} << 40);
  EXPECT_EQ(parse_bytes("1.5G"), uint64_t{3} << 29);
  EXPECT_EQ(parse_bytes("0.5KiB"), 512u);
  EXPECT_EQ(parse_bytes("18446744073709551615"), UINT64_MAX);
}

TEST(ParseBytes, RefusesEverythingElse) {
  for (const char* text : {"", "G", "-1", "1.5", "1.5B", "-1.5G", "1e3G", "nanG", "1 G", "1X",
                           "1Gb", "1GiBs", "16777216T", "18446744073709551616", "0x10", "none"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

}  // namespace
}  // namespace tokamak
