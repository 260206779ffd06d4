#include "text/tokenizer/u64_map.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// Keys that all want the first slot of a table of up to 2^30 slots: what multiplies a key inside
/// the map is undone.
uint64_t crowded_key(uint64_t i) {
  uint64_t inverse = 1;  // of the multiplier, by Newton's method
  for (int step = 0; step < 6; ++step) inverse *= 2 - 0x9E3779B97F4A7C15u * inverse;
  const uint64_t mixed = (i << 50 | i >> 14) * inverse;
  return mixed ^ mixed >> 32;
}

// With a search from slot to slot this takes a minute.
TEST(U64Map, StaysQuickWhenAllKeysWantTheSameSlot) {
  U64Map map;
  constexpr uint64_t kKeys = 200'000;
  for (uint64_t i = 0; i < kKeys; ++i) map.set(crowded_key(i), i);
  EXPECT_EQ(map.size(), kKeys);
  for (uint64_t i = 0; i < kKeys; ++i) {
    const uint64_t* value = map.find(crowded_key(i));
    ASSERT_NE(value, nullptr);
    ASSERT_EQ(*value, i);
  }
  EXPECT_EQ(map.find(crowded_key(kKeys)), nullptr);
  map.set(crowded_key(1), 7);
  EXPECT_EQ(*map.find(crowded_key(1)), 7u);
  EXPECT_EQ(map.size(), kKeys);
}

}  // namespace
}  // namespace tokamak
