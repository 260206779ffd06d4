#include "formats/piecewise_source.h"

#include <gtest/gtest.h>

#include <vector>

namespace tokamak {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::byte byte_at(uint64_t offset) {
  return std::byte(uint8_t(offset * 2654435761u >> 13));
}

/// Byte i is byte_at(i).
class CountingSource final : public PiecewiseSource {
 public:
  explicit CountingSource(uint64_t size) : PiecewiseSource("file", size) {}

  mutable std::vector<std::pair<uint64_t, uint64_t>> fetched;  // offset and length
  bool is_broken = false;

 private:
  Result<void> fetch(uint64_t offset, std::span<std::byte> out) const override {
    if (is_broken) return invalid_input("{}: The network is gone.", name());
    fetched.emplace_back(offset, out.size());
    for (uint64_t i = 0; i < out.size(); ++i) out[i] = byte_at(offset + i);
    return {};
  }
};

void expect_right(std::span<const std::byte> bytes, uint64_t offset, uint64_t length) {
  ASSERT_EQ(bytes.size(), length);
  for (uint64_t i = 0; i < length; ++i) ASSERT_EQ(bytes[i], byte_at(offset + i)) << offset + i;
}

TEST(PiecewiseSource, FetchesOnceWhatIsReadInSmallSteps) {
  const CountingSource source(3 * kMiB);
  for (uint64_t at = 0; at < 4000; at += 7) expect_right(*source.view(at, 7), at, 7);
  EXPECT_EQ(source.fetched.size(), 1u);
  std::vector<std::byte> out(100);
  ASSERT_TRUE(source.read(50, out));
  expect_right(out, 50, 100);
  EXPECT_EQ(source.fetched.size(), 1u);
}

TEST(PiecewiseSource, KeepsWhatSeveralTensorsAreReadFromInTurn) {
  const CountingSource source(8 * kMiB);
  for (int turn = 0; turn < 5; ++turn) {
    for (const uint64_t place : {0u, 1u, 2u, 3u}) {
      const uint64_t at = place * 2 * kMiB + uint64_t(turn) * 1000;
      expect_right(*source.view(at, 1000), at, 1000);
    }
  }
  EXPECT_EQ(source.fetched.size(), 4u);
}

TEST(PiecewiseSource, KeepsNoLongPieces) {
  const CountingSource source(8 * kMiB);
  for (int i = 0; i < 2; ++i) expect_right(*source.view(5, 2 * kMiB), 5, 2 * kMiB);
  EXPECT_EQ(source.fetched, (decltype(source.fetched)(2, {5, 2 * kMiB})));
}

TEST(PiecewiseSource, GivesBytesThatOutliveTheNextRequests) {
  const CountingSource source(16 * kMiB);
  const FileBytes first = *source.view(3, 10);
  for (uint64_t at = kMiB; at < 10 * kMiB; at += kMiB) ASSERT_TRUE(source.view(at, 10));
  expect_right(first, 3, 10);
}

TEST(PiecewiseSource, EndsWhereTheFileEnds) {
  const CountingSource source(100);
  expect_right(*source.view(90, 10), 90, 10);
  EXPECT_TRUE(source.view(100, 0)->empty());
  EXPECT_EQ(source.view(90, 11).error().message,
            "file: The file has 100 bytes, but 11 bytes at byte 90 are needed.");
  EXPECT_EQ(source.fetched, (decltype(source.fetched){{90, 10}}));
}

TEST(PiecewiseSource, ReportsWhyItCannotRead) {
  CountingSource source(100);
  source.is_broken = true;
  EXPECT_EQ(source.view(0, 8).error().message, "file: The network is gone.");
  source.is_broken = false;
  expect_right(*source.view(0, 8), 0, 8);  // what failed is not kept
}

}  // namespace
}  // namespace tokamak
