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

}  // namespace
}  // namespace tokamak
