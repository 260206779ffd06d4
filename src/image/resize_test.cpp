#include "image/resize.h"

#include <gtest/gtest.h>

namespace tokamak {
namespace {

Image row_of(std::vector<uint8_t> grays) {
  Image image = black_image(uint32_t(grays.size()), 1);
  for (size_t i = 0; i < grays.size(); ++i) {
    for (size_t c = 0; c < 3; ++c) image.rgb[i * 3 + c] = grays[i];
  }
  return image;
}

std::vector<uint8_t> grays_of(const Image& image) {
  std::vector<uint8_t> grays;
  for (size_t i = 0; i < image.rgb.size(); i += 3) grays.push_back(image.rgb[i]);
  return grays;
}

TEST(Resized, LeavesAnImageOfThatSizeAlone) {
  const std::vector<uint8_t> grays = {0, 255, 3, 77};
  EXPECT_EQ(grays_of(resized(row_of(grays), {4, 1}, ResizeFilter::kBicubic)), grays);
}

TEST(Resized, WidensTheFilterWhereItShrinks) {
  // Weights 2 3 2 1 for the first output, 1 2 3 2 for the second.
  EXPECT_EQ(grays_of(resized(row_of({0, 0, 255, 0, 0, 0}), {2, 1}, ResizeFilter::kBilinear)),
            (std::vector<uint8_t>{64, 32}));
}

TEST(Resized, ClampsWhatBicubicOvershoots) {
  const auto grays = grays_of(resized(row_of({0, 0, 255, 255}), {8, 1}, ResizeFilter::kBicubic));
  EXPECT_EQ(grays.front(), 0);
  EXPECT_EQ(grays[2], 0) << "below 0 without the clamp";
  EXPECT_EQ(grays[5], 255);
}

TEST(Resized, HasThePixelsOfPillowWithLanczos) {
  const auto of = [](std::vector<uint8_t> grays, uint32_t width) {
    return grays_of(resized(row_of(std::move(grays)), {width, 1}, ResizeFilter::kLanczos));
  };
  EXPECT_EQ(of({0, 0, 255, 255}, 8), (std::vector<uint8_t>{10, 0, 0, 54, 201, 255, 255, 245}));
  EXPECT_EQ(of({0, 200, 3, 90, 255, 17, 60, 128, 5}, 4), (std::vector<uint8_t>{73, 118, 103, 56}));
  EXPECT_EQ(of({10, 250, 30}, 7), (std::vector<uint8_t>{0, 41, 165, 250, 177, 60, 0}));
  EXPECT_EQ(of({9, 31, 181, 70, 64, 70, 132, 141}, 11),
            (std::vector<uint8_t>{11, 2, 87, 181, 100, 52, 64, 68, 113, 142, 140}))
      << "182 with weights of 16 bits";
}

}  // namespace
}  // namespace tokamak
