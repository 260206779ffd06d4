#include "plan/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

namespace tokamak {
namespace {

bool meet(const Lifetime& one, const Lifetime& other) {
  return one.first <= other.last && other.first <= one.last;
}

uint64_t bytes_of(const Placement& placement) {
  return std::accumulate(placement.bytes.begin(), placement.bytes.end(), uint64_t{0});
}

std::vector<Lifetime> random_lifetimes(std::mt19937& random, size_t count, uint32_t moments) {
  std::vector<Lifetime> tensors(count);
  for (Lifetime& tensor : tensors) {
    tensor.first = uint32_t(random() % moments);
    tensor.last = tensor.first + uint32_t(random() % (random() % 4 == 0 ? moments : 4));
    tensor.bytes = 16 * (1 + random() % 8);
  }
  return tensors;
}

/// The smallest sum of buffers over all ways to group tensors from the index on.
uint64_t least_bytes(const std::vector<Lifetime>& tensors, size_t index,
                     std::vector<std::vector<Lifetime>>& groups) {
  if (index == tensors.size()) {
    uint64_t sum = 0;
    for (const auto& group : groups) {
      sum += std::ranges::max(group, {}, &Lifetime::bytes).bytes;
    }
    return sum;
  }
  groups.push_back({tensors[index]});
  uint64_t least = least_bytes(tensors, index + 1, groups);
  groups.pop_back();
  for (auto& group : groups) {
    if (std::ranges::any_of(group, [&](const auto& t) { return meet(t, tensors[index]); }))
      continue;
    group.push_back(tensors[index]);
    least = std::min(least, least_bytes(tensors, index + 1, groups));
    group.pop_back();
  }
  return least;
}

TEST(Placement, SmallTensorsLeaveTheLargeBufferToLargeOnes) {
  // When the third one comes the large buffer is free, but the fourth will need it.
  const std::vector<Lifetime> tensors = {{0, 1, 100}, {1, 5, 4}, {2, 5, 4}, {3, 4, 100}};
  EXPECT_EQ(place_tensors(tensors).bytes, (std::vector<uint64_t>{100, 4, 4}));
}

TEST(Placement, IsTheSmallestThereIs) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const auto tensors = random_lifetimes(random, 1 + random() % 7, 8);
    std::vector<std::vector<Lifetime>> groups;
    EXPECT_EQ(bytes_of(place_tensors(tensors)), least_bytes(tensors, 0, groups)) << round;
  }
}

TEST(Placement, NoTwoTensorsOfABufferMeet) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const uint32_t moments = 10 + uint32_t(random() % 400);
    auto tensors = random_lifetimes(random, 1 + random() % 80, moments);
    for (size_t i = 0; i < tensors.size(); i += 3) tensors[i].bytes *= 1000;
    const Placement placement = place_tensors(tensors);
    EXPECT_EQ(place_tensors(tensors).buffer, placement.buffer);
    ASSERT_EQ(placement.buffer.size(), tensors.size());
    EXPECT_TRUE(std::ranges::is_sorted(placement.bytes, std::greater<>()));
    for (size_t i = 0; i < tensors.size(); ++i) {
      ASSERT_LT(placement.buffer[i], placement.bytes.size());
      EXPECT_LE(tensors[i].bytes, placement.bytes[placement.buffer[i]]);
      for (size_t j = 0; j < i; ++j) {
        if (placement.buffer[i] != placement.buffer[j]) continue;
        EXPECT_FALSE(meet(tensors[i], tensors[j])) << "tensors " << j << " and " << i;
      }
    }
  }
}

TEST(Placement, OfNothingIsNothing) {
  EXPECT_TRUE(place_tensors({}).bytes.empty());
}

}  // namespace
}  // namespace tokamak
