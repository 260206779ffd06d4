#include "memory/vectors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/bits.h"
#include "memory/rank.h"

namespace tokamak::memory {
namespace {

TEST(Vectors, AreMultipliedAsTheyAre) {
  std::vector<float> values, query;
  for (int i = 0; i < 37; ++i) {
    values.push_back(std::sin(float(i)) * (i % 5 == 0 ? 1e-7F : 1));
    query.push_back(std::cos(float(i * i)));
  }
  const std::vector<uint16_t> half = to_f16(values);
  double wanted = 0;
  for (size_t i = 0; i < half.size(); ++i) wanted += double(f16_to_f32(half[i])) * query[i];
  EXPECT_NEAR(dot(half, query), wanted, 1e-5);
}

TEST(Vectors, OfAllSixteenBitsAreRight) {
  const float one = 1;
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    if ((bits & 0x7c00) == 0x7c00) continue;  // infinite, NaN
    const auto half = uint16_t(bits);
    EXPECT_EQ(dot(std::span(&half, 1), std::span(&one, 1)), f16_to_f32(half)) << bits;
  }
}

class NearestTest : public testing::Test {
 protected:
  NearestTest() {
    for (int i = 0; i < 100; ++i) index_.add(10 + i, to_f16(std::vector<float>{cosine(i), 0}));
  }
  /// Most of 10 + 50, less on either side; those of 10 + i and 10 + 100 - i are equal.
  static float cosine(int i) { return 1 - float(std::abs(i - 50)) / 64; }

  std::vector<int64_t> nearest(size_t most, const std::vector<int64_t>* among = nullptr) const {
    std::vector<int64_t> ids;
    for (const auto& near : index_.nearest(std::vector<float>{1, 0}, most, among)) {
      ids.push_back(near.id);
    }
    return ids;
  }

  VectorIndex index_{2};
};

TEST_F(NearestTest, ComeBestFirstAndInOrderOfIds) {
  EXPECT_EQ(nearest(5), (std::vector<int64_t>{60, 59, 61, 58, 62}));
  EXPECT_EQ(nearest(0), std::vector<int64_t>());
  EXPECT_EQ(nearest(1000).size(), 100u);
}

TEST_F(NearestTest, AreAmongThoseThatMayBe) {
  const std::vector<int64_t> among = {1, 12, 62, 70, 90, 500};
  EXPECT_EQ(nearest(3, &among), (std::vector<int64_t>{62, 70, 90}));
  const std::vector<int64_t> none;
  EXPECT_EQ(nearest(3, &none), none);
}

TEST(Fusion, AddsReciprocalRanks) {
  const std::vector<int64_t> one = {7, 8, 9}, other = {9, 5};
  const std::vector<Ranked> fused = fuse(one, other);
  ASSERT_EQ(fused.size(), 4u);
  EXPECT_EQ(fused[0].id, 9);
  EXPECT_DOUBLE_EQ(fused[0].score, 1.0 / 63 + 1.0 / 61);
  EXPECT_EQ(fused[1].id, 7);
  EXPECT_DOUBLE_EQ(fused[1].score, 1.0 / 61);
  EXPECT_EQ(fused[2].id, 5);  // as good as 8, and smaller
  EXPECT_EQ(fused[3].id, 8);
}

}  // namespace
}  // namespace tokamak::memory
