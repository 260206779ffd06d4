#include "image/orientation.h"

#include <gtest/gtest.h>

#include <string>

namespace tokamak {
namespace {

/// EXIF of one entry, little endian.
std::string exif_of(char orientation) {
  return std::string("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 18) + orientation +
         std::string("\0\0\0\0\0\0\0", 7);
}

Orientation read(const std::string& exif) {
  return exif_orientation(std::as_bytes(std::span(exif)));
}

TEST(ExifOrientation, ReadsBothByteOrdersWithOrWithoutTheMark) {
  EXPECT_EQ(read(exif_of(6)), Orientation::kClockwise);
  EXPECT_EQ(read(std::string("Exif\0\0", 6) + exif_of(3)), Orientation::kHalfTurn);
  EXPECT_EQ(
      read(std::string("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0\0\0\0\0", 26)),
      Orientation::kCounterClockwise);
}

TEST(ExifOrientation, IsUprightWhereThereIsNoneOrItIsDamaged) {
  EXPECT_EQ(read(""), Orientation::kUpright);
  EXPECT_EQ(read(exif_of(0)), Orientation::kUpright);
  EXPECT_EQ(read(exif_of(9)), Orientation::kUpright);
  EXPECT_EQ(read("II*\0\xff\xff\xff\xff"), Orientation::kUpright);
  for (size_t size = 0; size < 18; ++size) {
    EXPECT_EQ(read(exif_of(6).substr(0, size)), Orientation::kUpright) << size;
  }
}

/// The red channel of a 3 x 2 image "abc def" after turning, its rows after one another.
std::string turned(Orientation orientation) {
  Image image = black_image(3, 2);
  for (size_t i = 0; i < 6; ++i) image.rgb[i * 3] = uint8_t("abcdef"[i]);
  const Image out = upright(image, orientation);
  std::string text;
  for (size_t i = 0; i < 6; ++i) {
    if (i > 0 && i % out.width == 0) text += ' ';
    text += char(out.rgb[i * 3]);
  }
  return text;
}

TEST(Upright, DoesAllEight) {
  EXPECT_EQ(turned(Orientation::kUpright), "abc def");
  EXPECT_EQ(turned(Orientation::kMirrorX), "cba fed");
  EXPECT_EQ(turned(Orientation::kHalfTurn), "fed cba");
  EXPECT_EQ(turned(Orientation::kMirrorY), "def abc");
  EXPECT_EQ(turned(Orientation::kTranspose), "ad be cf");
  EXPECT_EQ(turned(Orientation::kClockwise), "da eb fc");
  EXPECT_EQ(turned(Orientation::kTransverse), "fc eb da");
  EXPECT_EQ(turned(Orientation::kCounterClockwise), "cf be ad");
}

}  // namespace
}  // namespace tokamak
