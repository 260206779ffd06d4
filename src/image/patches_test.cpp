#include "image/patches.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

/// Red is the pixel's column, green its row, blue 200.
Image numbered(uint32_t width, uint32_t height) {
  Image image = black_image(width, height);
  for (uint32_t i = 0; i < width * height; ++i) {
    image.rgb[i * 3] = uint8_t(i % width);
    image.rgb[i * 3 + 1] = uint8_t(i / width);
    image.rgb[i * 3 + 2] = 200;
  }
  return image;
}

TEST(Patches, GoRowByRowWithTheChannelsFirstOrLast) {
  PatchLayout layout = {.patch = 2, .std = {1 / 255.f, 1 / 255.f, 1 / 255.f}};
  const Patches first = patches_of(numbered(4, 2), layout);
  EXPECT_EQ(first.rows, 1u);
  EXPECT_EQ(first.columns, 2u);
  EXPECT_EQ(first.values, (std::vector<float>{0, 1, 0, 1, 0, 0, 1, 1, 200, 200, 200, 200,  //
                                              2, 3, 2, 3, 0, 0, 1, 1, 200, 200, 200, 200}));
  layout.channels_last = true;
  const Patches last = patches_of(numbered(4, 2), layout);
  EXPECT_EQ(last.values, (std::vector<float>{0, 0, 200, 1, 0, 200, 0, 1, 200, 1, 1, 200,  //
                                             2, 0, 200, 3, 0, 200, 2, 1, 200, 3, 1, 200}));
}

TEST(Patches, OfBlocksAreNeighboursAndFramesRepeatChannels) {
  const PatchLayout layout = {
      .patch = 1, .merge = 2, .frames = 2, .std = {1 / 255.f, 1 / 255.f, 1 / 255.f}};
  const Patches patches = patches_of(numbered(4, 2), layout);
  std::vector<float> reds;
  for (size_t row = 0; row < 8; ++row) {
    reds.push_back(patches.values[row * 6] + 10 * patches.values[row * 6 + 2]);
    EXPECT_EQ(patches.values[row * 6], patches.values[row * 6 + 1]);
  }
  EXPECT_EQ(reds, (std::vector<float>{0, 1, 10, 11, 2, 3, 12, 13}));
}

TEST(Patches, AreNormalized) {
  const PatchLayout layout = {.patch = 1, .mean = {0.5f, 0, 0}, .std = {0.5f, 1, 0.25f}};
  const Patches patches = patches_of(numbered(1, 1), layout);
  EXPECT_FLOAT_EQ(patches.values[0], -1);
  EXPECT_FLOAT_EQ(patches.values[1], 0);
  EXPECT_FLOAT_EQ(patches.values[2], 200 / 255.f / 0.25f);
}

}  // namespace
}  // namespace tokamak
