#include "image/decode.h"

#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <fstream>
#include <string>
#include <vector>

namespace tokamak {
namespace {

std::string file_of(const std::string& name) {
  std::ifstream file(TOKAMAK_TEST_DATA "/images/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<Image> decode(const std::string& file, const ImageLimits& limits = {}) {
  return decode_image(std::as_bytes(std::span(file)), limits);
}

std::string error_of(const std::string& file, const ImageLimits& limits = {}) {
  const auto image = decode(file, limits);
  return image ? "" : image.error().message;
}

const std::string kAllFormats[] = {"shapes.png",  "bit.png",    "rgb16.png", "photo420.jpg",
                                   "turned6.jpg", "lossy.webp", "alpha.webp"};

TEST(DecodeImage, TurnsImagesUpright) {
  const auto image = decode(file_of("turned6.jpg"));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->width, 48u);
  EXPECT_EQ(image->height, 80u);
}

TEST(DecodeImage, TakesTheHighByteOfGrayOf16Bits) {
  const auto image = decode(file_of("gray16.png"));
  ASSERT_TRUE(image) << image.error().message;
  const auto [least, most] = std::minmax_element(image->rgb.begin(), image->rgb.end());
  EXPECT_LT(*least, 100) << "a gradient, not white";
  EXPECT_GT(*most, *least);
  EXPECT_EQ(image->rgb[0], image->rgb[1]);
}

/// A JPEG of one colour, of how much is missing of cyan, magenta, yellow and black.
std::string cmyk_jpeg(uint8_t c, uint8_t m, uint8_t y, uint8_t k) {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 64; ++i) pixels.insert(pixels.end(), {c, m, y, k});
  const tjhandle compressor = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  EXPECT_EQ(tjCompress2(compressor, pixels.data(), 8, 0, 8, TJPF_CMYK, &bytes, &size, TJSAMP_444,
                        100, TJFLAG_ACCURATEDCT),
            0);
  const std::string file(reinterpret_cast<const char*>(bytes), size);
  tjFree(bytes);
  tjDestroy(compressor);
  return file;
}

TEST(DecodeImage, TakesInkForLight) {
  const auto pixel = [](const std::string& file) {
    const auto image = decode(file);
    EXPECT_TRUE(image) << image.error().message;
    return image ? std::vector<int>(image->rgb.begin(), image->rgb.begin() + 3)
                 : std::vector<int>();
  };
  const auto near = [](const std::vector<int>& found, const std::vector<int>& expected) {
    ASSERT_EQ(found.size(), 3u);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], expected[i], 3) << i;
  };
  near(pixel(cmyk_jpeg(255, 255, 255, 255)), {255, 255, 255});
  near(pixel(cmyk_jpeg(255, 255, 255, 0)), {0, 0, 0});
  near(pixel(cmyk_jpeg(200, 100, 50, 128)), {100, 50, 25});
}

TEST(DecodeImage, ReportsThatNothingCameOrNothingThatIsRead) {
  EXPECT_EQ(error_of(""), "The file is empty, expected an image.");
  EXPECT_EQ(
      error_of("GIF89a and more"),
      "The file is not an image that is read here, expected PNG, JPEG or WebP; convert it first.");
  EXPECT_EQ(
      error_of("RIFF\x10\0\0\0WAVEfmt "),
      "The file is not an image that is read here, expected PNG, JPEG or WebP; convert it first.");
}

TEST(DecodeImage, RefusesFilesThatAreCutOffAnywhere) {
  for (const std::string& name : kAllFormats) {
    const std::string whole = file_of(name);
    // A file that ends at most this far before its end has all of the pixels.
    const size_t after_pixels = name.ends_with("png") ? 16 : 2;
    for (size_t size = 12; size + after_pixels < whole.size(); size += 1 + whole.size() / 61) {
      const std::string error = error_of(whole.substr(0, size));
      EXPECT_NE(error.find("The file is damaged or cut off: "), error.npos)
          << name << " cut to " << size << " bytes: " << error;
    }
  }
}

TEST(DecodeImage, SurvivesEveryWrongByte) {
  for (const std::string& name : kAllFormats) {
    std::string file = file_of(name);
    for (size_t i = 0; i < file.size(); i += 1 + file.size() / 300) {
      const char was = file[i];
      file[i] = char(~was);
      if (const auto image = decode(file)) {
        EXPECT_EQ(image->rgb.size(), size_t{image->width} * image->height * 3) << name;
      } else {
        EXPECT_FALSE(image.error().message.empty());
      }
      file[i] = was;
    }
  }
}

TEST(DecodeImage, RefusesMorePixelsThanAllowedBeforeItDecodesThem) {
  for (const std::string& name : kAllFormats) {
    const std::string error = error_of(file_of(name), {.max_pixels = 100});
    EXPECT_NE(error.find("pixels, expected at most 100 in all; make it smaller first."), error.npos)
        << name << ": " << error;
  }
}

TEST(DecodeImage, RefusesHeadersThatClaimAMillionTimesMore) {
  // A JPEG's frame header: FF C0, length, precision, height, width.
  std::string jpeg = file_of("photo420.jpg");
  const size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, jpeg.npos);
  jpeg.replace(frame + 5, 4, "\xea\x60\xea\x60");
  EXPECT_EQ(error_of(jpeg),
            "JPEG: The image is 60000 x 60000 pixels, expected at most 64000000 in all; make it "
            "smaller first.");
  std::string png = file_of("shapes.png");
  png.replace(16, 8, std::string("\0\1\0\0\0\1\0\0", 8));
  EXPECT_EQ(error_of(png),
            "PNG: The image is 65536 x 65536 pixels, expected at most 64000000 in all; make it "
            "smaller first.");
}

TEST(DecodeImage, RefusesLargeFiles) {
  EXPECT_EQ(error_of(file_of("bit.png"), {.max_file_bytes = 50}),
            "The image file has 180 bytes, expected at most 50; make it smaller first.");
}

TEST(DecodeImage, RefusesAPngThatPromisesMorePixelsThanItHas) {
  // The same header as for 96 x 64, but with rows for 5 x 7 only.
  const std::string small = file_of("small.png"), large = file_of("shapes.png");
  const std::string lying = large.substr(0, 33) + small.substr(33);
  const std::string error = error_of(lying);
  EXPECT_NE(error.find("PNG: The file is damaged or cut off: "), error.npos) << error;
}

}  // namespace
}  // namespace tokamak
