#include "base/dtype.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(DType, NamesComeBackAsTheSameType) {
  for (uint32_t i = 0; i < kDTypeCount; ++i) {
    EXPECT_EQ(dtype_from_name(dtype_name(DType(i))), DType(i)) << i;
  }
  EXPECT_EQ(dtype_from_name("BF16"), std::nullopt);
  EXPECT_EQ(dtype_from_name(""), std::nullopt);
}

TEST(DType, TableFollowsTheEnumerators) {
  EXPECT_EQ(dtype_name(DType::kF32), "f32");
  EXPECT_EQ(dtype_name(DType::kBF16), "bf16");
  EXPECT_EQ(dtype_name(DType::kI64), "i64");
  EXPECT_EQ(dtype_name(DType::kBool), "bool");
  EXPECT_EQ(dtype_name(DType::kF8E5M2), "f8e5m2");
  EXPECT_EQ(dtype_bytes(DType::kF32), 4u);
  EXPECT_EQ(dtype_bytes(DType::kF16), 2u);
  EXPECT_EQ(dtype_bytes(DType::kU8), 1u);
  EXPECT_EQ(dtype_bytes(DType::kU16), 2u);
  EXPECT_EQ(dtype_bytes(DType::kF64), 8u);
  EXPECT_EQ(dtype_bytes(DType::kF8E4M3), 1u);
}

}  // namespace
}  // namespace tokamak
