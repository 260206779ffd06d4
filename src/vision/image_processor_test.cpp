#include "vision/image_processor.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

const VisionTower kTower = {.patch = 16, .frames = 2, .side = 2};

Result<ImageProcessor> read(const char* text, uint64_t max_pixels = 1 << 20) {
  const auto json = Json::parse(text);
  EXPECT_TRUE(json);
  return ImageProcessor::read(&*json, kTower, max_pixels);
}

ImageSize resized_size(const Result<ImageProcessor>& processor, uint32_t width, uint32_t height) {
  const auto image = processor->resize(black_image(width, height));
  EXPECT_TRUE(image);
  return image ? ImageSize{image->width, image->height} : ImageSize{};
}

TEST(ImageProcessor, ReadsTheBudgetInBothSpellings) {
  const auto newer = read(R"({"size": {"shortest_edge": 1024, "longest_edge": 4096}})");
  ASSERT_TRUE(newer) << newer.error().message;
  EXPECT_EQ(resized_size(newer, 640, 640), (ImageSize{64, 64}));
  const auto older = read(R"({"min_pixels": 4096, "max_pixels": 16384})");
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_EQ(resized_size(older, 32, 32), (ImageSize{64, 64}));
}

TEST(ImageProcessor, CutsAnImageIntoSquaresAndKeepsTheWhole) {
  VisionTower tower = {.patch = 8, .side = 2, .image_side = 32};
  tower.parts = Tiles{
      .longest = 72, .splits = true, .most = 10, .tile = {}, .line = {}, .whole = {}, .end = {}};
  const Json file = *Json::parse(R"({"resample": 1})");
  const auto processor = ImageProcessor::read(&file, tower, 0);
  ASSERT_TRUE(processor) << processor.error().message;
  Image image = black_image(96, 64);
  for (size_t i = 0; i < 3; ++i) image.rgb[(size_t{40} * 96 + 70) * 3 + i] = 255;
  const PatchGrid grid = processor->squares({96, 64});
  EXPECT_EQ(grid, (PatchGrid{.rows = 2, .columns = 3}));
  const std::vector<Image> parts = processor->parts(image);
  ASSERT_EQ(parts.size(), 7u);
  for (size_t i = 0; i < 6; ++i) {
    const bool is_white = parts[i].rgb[(size_t{8} * 32 + 6) * 3] == 255;
    EXPECT_EQ(is_white, i == 5) << "the pixel is in the third square of the second line: " << i;
  }
  EXPECT_EQ(parts[6].width, 32u);
  EXPECT_EQ(processor->parts(black_image(32, 32)).size(), 1u);
}

TEST(ImageProcessor, ShowsTheWholeAloneWhereImagesAreNotSplit) {
  VisionTower tower = {.patch = 8, .side = 2, .image_side = 32};
  tower.parts = Tiles{
      .longest = 72, .splits = false, .most = 1, .tile = {}, .line = {}, .whole = {}, .end = {}};
  const auto processor = ImageProcessor::read(nullptr, tower, 0);
  ASSERT_TRUE(processor) << processor.error().message;
  EXPECT_EQ(resized_size(processor, 90, 40), (ImageSize{32, 32}));
}

TEST(ImageProcessor, RefusesAFilterThatItDoesNotHave) {
  VisionTower tower = {.patch = 8, .side = 2, .image_side = 32};
  tower.parts = Tiles{
      .longest = 72, .splits = true, .most = 10, .tile = {}, .line = {}, .whole = {}, .end = {}};
  const Json file = *Json::parse(R"({"resample": 5})");
  const auto processor = ImageProcessor::read(&file, tower, 0);
  ASSERT_FALSE(processor);
  EXPECT_EQ(
      processor.error().message,
      "preprocessor_config.json: resample is 5; this engine has 1 (Lanczos), 2 (bilinear) and "
      "3 (bicubic).");
}

TEST(ImageProcessor, ObeysTheLimitOfTheUser) {
  const auto processor =
      read(R"({"size": {"shortest_edge": 65536, "longest_edge": 16777216}})", 4096);
  ASSERT_TRUE(processor);
  EXPECT_EQ(resized_size(processor, 640, 640), (ImageSize{64, 64}));
}

TEST(ImageProcessor, MakesSquaresOfAllImagesWhereTheTowerTakesOneSize) {
  const VisionTower tower = {.patch = 14, .side = 2, .image_side = 56};
  const Json file = *Json::parse(R"({"size": {"height": 56, "width": 56}})");
  EXPECT_EQ(resized_size(ImageProcessor::read(&file, tower, 1), 300, 20), (ImageSize{56, 56}));
  const Json other = *Json::parse(R"({"size": {"height": 896, "width": 896}})");
  const auto refused = ImageProcessor::read(&other, tower, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "preprocessor_config.json: size: height is 896, but config.json says 56.");
  const Json cropped = *Json::parse(R"({"do_pan_and_scan": true})");
  EXPECT_FALSE(ImageProcessor::read(&cropped, tower, 1));
}

TEST(ImageProcessor, CutsTheMiddleOrAddsMarginsWhereImagesKeepTheirRatio) {
  VisionTower tower = {.patch = 4, .side = 1, .image_side = 8};
  tower.keeps_ratio = true;
  Image image = black_image(16, 8);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = uint8_t(i / 3 % 16);  // the column
  const Json cuts = *Json::parse(R"({"size": {"shortest_edge": 8}, "crop_size": 8})");
  const auto middle = ImageProcessor::read(&cuts, tower, 1)->resize(image);
  ASSERT_TRUE(middle) << middle.error().message;
  ASSERT_EQ(middle->width, 8u);
  EXPECT_EQ(middle->rgb[0], 4);
  EXPECT_EQ(middle->rgb[3 * 7], 11);
  const Json pads = *Json::parse(R"({"do_pad": true, "image_mean": [0.5, 0.25, 1]})");
  const auto whole = ImageProcessor::read(&pads, tower, 1)->resize(image);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_LT(whole->rgb[4 * 8 * 3], 3);  // the image's first column, in the middle
  const auto wide = ImageProcessor::read(&pads, tower, 1)->resize(black_image(16, 4));
  ASSERT_TRUE(wide) << wide.error().message;
  EXPECT_EQ(wide->rgb[0], 127);
  EXPECT_EQ(wide->rgb[1], 63);
  EXPECT_EQ(wide->rgb[2], 255);
  const Json other = *Json::parse(R"({"crop_size": {"height": 336, "width": 336}})");
  EXPECT_EQ(ImageProcessor::read(&other, tower, 1).error().message,
            "preprocessor_config.json: crop_size: height is 336, but config.json says 8.");
  const auto long_one = ImageProcessor::read(&pads, tower, 1)->size_for({20000, 2000});
  ASSERT_FALSE(long_one);
  EXPECT_EQ(long_one.error().message,
            "with margins that make it a square: The image is 20000 x 20000 pixels, expected at "
            "most 64000000 in all; make it smaller first.");
  const auto thin = ImageProcessor::read(&cuts, tower, 1)->size_for({1, 201});
  EXPECT_EQ(thin.error().message,
            "The image has 1 x 201 pixels: its sides differ by more than a factor of 200.");
}

TEST(ImageProcessor, FillsTheTokensOfTheTower) {
  VisionTower tower = {.max_patches = 90, .patch = 8, .side = 3};
  tower.fills_tokens = true;
  const Json file = *Json::parse(R"({"patch_size": 8, "image_mean": [0, 0, 0]})");
  // 10 squares of 24 x 24 pixels.
  EXPECT_EQ(resized_size(ImageProcessor::read(&file, tower, 1), 100, 100), (ImageSize{72, 72}));
}

TEST(ImageProcessor, RefusesSizesThatTheTowerWasNotBuiltFor) {
  const auto processor = read(R"({"patch_size": 14})");
  ASSERT_FALSE(processor);
  EXPECT_EQ(processor.error().message,
            "preprocessor_config.json: patch_size is 14, but config.json says 16.");
}

}  // namespace
}  // namespace tokamak
