#include "audio/pcm.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tokamak {
namespace {

std::vector<float> read(std::string_view format, std::vector<uint8_t> bytes, size_t step = 100) {
  PcmReader reader(*pcm_format(format), 1);
  std::vector<float> out;
  const auto all = std::as_bytes(std::span(bytes));
  for (size_t at = 0; at < all.size(); at += step) {
    reader.add(all.subspan(at, std::min(step, all.size() - at)), out);
  }
  return out;
}

TEST(Pcm, HasTheFormatsOfOtherPrograms) {
  using Floats = std::vector<float>;
  EXPECT_EQ(read("u8", {0, 128, 192}), (Floats{-1, 0, 0.5}));
  EXPECT_EQ(read("s16le", {0, 0x80, 0, 0, 0, 0x40, 1, 0}), (Floats{-1, 0, 0.5, 1.0f / 32768}));
  EXPECT_EQ(read("s24le", {0, 0, 0x80, 0, 0, 0x40}), (Floats{-1, 0.5}));
  EXPECT_EQ(read("s32le", {0, 0, 0, 0x80, 0, 0, 0, 0x40}), (Floats{-1, 0.5}));
  EXPECT_EQ(read("f32le", {0, 0, 0, 0x3f, 0, 0, 0x80, 0xbf}), (Floats{0.5, -1}));
  EXPECT_FALSE(pcm_format("s16be"));
}

TEST(Pcm, MayBeCutAnywhere) {
  const std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(read("s16le", bytes, 1), read("s16le", bytes));
  PcmReader reader(PcmFormat::kS16, 2);
  std::vector<float> out;
  reader.add(std::as_bytes(std::span(bytes)), out);
  EXPECT_EQ(out.size(), 2u) << "whole moments alone";
  EXPECT_TRUE(reader.is_cut());
}

}  // namespace
}  // namespace tokamak
