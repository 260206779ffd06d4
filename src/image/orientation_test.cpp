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

/// EXIF of some entries of twelve bytes each, at that place, and another directory after them.
std::string exif_at(uint8_t place, const std::string& entries) {
  return std::string("MM\0*\0\0\0", 7) + char(place) + std::string(place - 8, '\7') +
         std::string("\0", 1) + char(entries.size() / 12) + entries + std::string(4, '\0');
}

TEST(ExifOrientation, MayBeAWholeNumberOfAnyType) {
  const std::string tag("\x01\x12\0", 3), one("\0\0\0\1", 4);
  const auto of = [&](char type, const std::string& value) {
    return read(exif_at(8, tag + type + one + value));
  };
  for (const char type : {'\1', '\6'}) {
    EXPECT_EQ(of(type, std::string("\6\0\0\0", 4)), Orientation::kClockwise);
  }
  for (const char type : {'\3', '\x08'}) {
    EXPECT_EQ(of(type, std::string("\0\6\0\0", 4)), Orientation::kClockwise);
  }
  for (const char type : {'\4', '\x09'}) {
    EXPECT_EQ(of(type, std::string("\0\0\0\6", 4)), Orientation::kClockwise);
  }
  EXPECT_EQ(of('\2', std::string("6\0\0\0", 4)), Orientation::kUpright) << "a text";
  std::string little = exif_of(6);
  little[12] = '\4';
  EXPECT_EQ(read(little), Orientation::kClockwise);
}

TEST(ExifOrientation, MayStandAnywhereInTheFirstDirectory) {
  const std::string width("\x01\0\0\4\0\0\0\1\0\0\0\x20", 12),
      turned("\x01\x12\0\3\0\0\0\1\0\x08\0\0", 12), make("\x01\x0f\0\2\0\0\0\1x\0\0\0", 12);
  EXPECT_EQ(read(exif_at(33, width + make + turned)), Orientation::kCounterClockwise);
  EXPECT_EQ(read(exif_at(200, turned + width)), Orientation::kCounterClockwise);
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
