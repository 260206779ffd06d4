#include "base/bits.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {
namespace {

TEST(Bits, EveryF16PatternRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = f16_to_f32(uint16_t(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(f32_to_f16(value), bits) << value;
  }
}

TEST(Bits, EveryBf16PatternRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = bf16_to_f32(uint16_t(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(f32_to_bf16(value), bits) << value;
  }
}

TEST(Bits, RoundsTiesToEvenAndKeepsNan) {
  EXPECT_EQ(f32_to_f16(2049.0f), f32_to_f16(2048.0f));
  EXPECT_EQ(f32_to_f16(2051.0f), f32_to_f16(2052.0f));
  EXPECT_EQ(f32_to_f16(65519.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(0x1p-25f), 0);
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(NAN))));
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(NAN))));
}

}  // namespace
}  // namespace tokamak
