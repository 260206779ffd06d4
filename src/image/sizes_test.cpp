#include "image/sizes.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

TEST(SizeInPixelBudget, RoundsHalvesToTheEvenMultiple) {
  const PixelBudget budget = {.factor = 32, .min_pixels = 1, .max_pixels = 1u << 24};
  EXPECT_EQ(size_in_pixel_budget({.width = 80, .height = 112}, budget), (ImageSize{64, 128}));
}

TEST(SizeInPixelBudget, RefusesImagesThatAreTooLong) {
  const auto size = size_in_pixel_budget({.width = 201, .height = 1}, {});
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().message,
            "The image is 201 x 1 pixels, one side more than 200 times the other; cut it first.");
}

TEST(SizeInPixelBudget, KeepsOneMultipleOfTheShorterSide) {
  const PixelBudget budget = {.factor = 28, .min_pixels = 0, .max_pixels = 28 * 28 * 2};
  EXPECT_EQ(size_in_pixel_budget({.width = 1000, .height = 10}, budget), (ImageSize{1008, 28}));
}

TEST(SizeInTokenBudget, EnlargesSmallImages) {
  EXPECT_EQ(size_in_token_budget({.width = 1, .height = 1}, {.max_soft_tokens = 70}),
            (ImageSize{384, 384}));
}

TEST(SizeInTokenBudget, KeepsOneRowOfVeryLongImages) {
  EXPECT_EQ(size_in_token_budget({.width = 2000, .height = 10}, {.max_soft_tokens = 70}),
            (ImageSize{3360, 48}));
}

TEST(SizeInSquares, KeepsTheRatioOfTheLongerSides) {
  const auto squares = [](ImageSize image, uint32_t longest) {
    return size_in_squares(size_to_longest(image, longest), 512);
  };
  EXPECT_EQ(size_to_longest({.width = 640, .height = 481}, 2048), (ImageSize{2048, 1540}));
  EXPECT_EQ(squares({.width = 640, .height = 480}, 2048), (ImageSize{2048, 1536}));
  EXPECT_EQ(squares({.width = 640, .height = 481}, 2048), (ImageSize{2048, 2048}));
  EXPECT_EQ(squares({.width = 1000, .height = 3000}, 1536), (ImageSize{512, 1536}));
  EXPECT_EQ(squares({.width = 9000, .height = 1}, 2048), (ImageSize{2048, 512}));
  EXPECT_EQ(squares({.width = 10, .height = 10}, 512), (ImageSize{512, 512}));
}

TEST(SizeInSideBudget, MakesSmallImagesNoLargerThanWholeSquares) {
  const SideBudget budget = {.factor = 28, .longest = 1540};
  EXPECT_EQ(size_in_side_budget({.width = 1, .height = 30}, budget), (ImageSize{28, 56}));
  EXPECT_EQ(size_in_side_budget({.width = 640, .height = 480}, budget), (ImageSize{644, 504}));
  EXPECT_EQ(size_in_side_budget({.width = 3000, .height = 1000}, budget), (ImageSize{1540, 532}));
}

TEST(SizeInSideBudget, ObeysTheLimitOfTheUser) {
  for (const ImageSize image : {ImageSize{1540, 1540}, ImageSize{1540, 5}, ImageSize{600, 900}}) {
    const ImageSize size = size_in_side_budget(image, {.factor = 28, .max_pixels = 28 * 28 * 10});
    EXPECT_LE(size.width * size.height, 28u * 28 * 10) << image.width;
    EXPECT_EQ(size.width % 28 + size.height % 28, 0u) << image.width;
    EXPECT_GT(size.width * size.height, 28u * 28 * 4) << image.width;
  }
}

}  // namespace
}  // namespace tokamak
