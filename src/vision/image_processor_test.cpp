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

TEST(ImageProcessor, ObeysTheLimitOfTheUser) {
  const auto processor =
      read(R"({"size": {"shortest_edge": 65536, "longest_edge": 16777216}})", 4096);
  ASSERT_TRUE(processor);
  EXPECT_EQ(resized_size(processor, 640, 640), (ImageSize{64, 64}));
}

TEST(ImageProcessor, RefusesSizesThatTheTowerWasNotBuiltFor) {
  const auto processor = read(R"({"patch_size": 14})");
  ASSERT_FALSE(processor);
  EXPECT_EQ(processor.error().message,
            "preprocessor_config.json: patch_size is 14, but config.json says 16.");
}

}  // namespace
}  // namespace tokamak
