// Every image of tests/data/images decoded, resized and cut into patches as recorded from
// transformers, byte for byte; and the sizes alone for many shapes. Each stage is compared by
// itself, so that a failure says which one differs.
#include <gtest/gtest.h>

#include "download/digest.h"
#include "golden/recorded_files.h"
#include "image/decode.h"
#include "image/patches.h"
#include "image/resize.h"
#include "image/sizes.h"

namespace tokamak::golden {
namespace {

const std::string kFolder = TOKAMAK_TEST_DATA "/images/";

uint32_t number(const Json& object, const char* name) {
  return uint32_t(object.find(name)->as_integer());
}

ImageSize size_of(const Json& height_width) {
  const Json::Array& sides = height_width.as_array();
  return {.width = uint32_t(sides[1].as_integer()), .height = uint32_t(sides[0].as_integer())};
}

std::string sha256_of(const Image& image) {
  download::Digest digest = download::Digest::sha256();
  digest.add(std::as_bytes(std::span(image.rgb)));
  return digest.hex();
}

/// One image through one processor with the settings that stand in the golden file.
struct Processor {
  std::string name;
  ResizeFilter filter;
  PatchLayout layout;
  Result<ImageSize> (*size)(ImageSize);
};

const std::vector<Processor>& processors() {
  static const std::vector<Processor> all = {
      {.name = "qwen3_5",
       .filter = ResizeFilter::kBicubic,
       .layout = {.merge = 2, .frames = 2, .mean = {.5, .5, .5}, .std = {.5, .5, .5}},
       .size =
           [](ImageSize image) {
             return size_in_pixel_budget(image, {.min_pixels = 4096, .max_pixels = 16384});
           }},
      {.name = "gemma3",
       .filter = ResizeFilter::kBilinear,
       .layout = {.patch = 14, .mean = {.5, .5, .5}, .std = {.5, .5, .5}},
       .size = [](ImageSize) { return Result<ImageSize>(ImageSize{112, 112}); }},
      {.name = "gemma4",
       .filter = ResizeFilter::kBicubic,
       .layout = {.patch = 8, .channels_last = true},
       .size =
           [](ImageSize image) {
             return size_in_token_budget(image, {.patch = 8, .max_soft_tokens = 70});
           }},
  };
  return all;
}

void expect_processed(const Image& image, const Processor& processor, const Json& expected) {
  SCOPED_TRACE(processor.name);
  const auto size = processor.size({image.width, image.height});
  if (expected.find("error") != nullptr) {
    EXPECT_FALSE(size);
    return;
  }
  ASSERT_TRUE(size) << size.error().message;
  ASSERT_EQ(*size, size_of(*expected.find("resized_hw")));
  const Image small = resized(image, *size, processor.filter);
  EXPECT_EQ(sha256_of(small), expected.find("resized_sha256")->as_string());
  const Patches patches = patches_of(small, processor.layout);
  const Json::Array& first = expected.find("pixel_values_first")->as_array();
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_NEAR(patches.values[i], first[i].as_number(), 1e-6) << i;
  }
  if (const Json* grid = expected.find("grid_thw")) {
    EXPECT_EQ(patches.rows, uint32_t(grid->as_array()[1].as_integer()));
    EXPECT_EQ(patches.columns, uint32_t(grid->as_array()[2].as_integer()));
  }
  if (const Json* sum = expected.find("pixel_values_sum_of_row1")) {
    const size_t row = patches.values.size() / (patches.rows * patches.columns);
    double actual = 0;
    for (size_t i = row; i < 2 * row; ++i) actual += patches.values[i];
    EXPECT_NEAR(actual, sum->as_number(), 1e-3);
  }
}

TEST(ImageGolden, FilesAreDecodedResizedAndCutAsRecorded) {
  const Json golden = read_json(kFolder + "golden.json");
  ASSERT_NE(golden.find("images"), nullptr);
  for (const Json& entry : golden.find("images")->as_array()) {
    const std::string& name = entry.find("file")->as_string();
    SCOPED_TRACE(name);
    if (name == "gray16.png") continue;  // white in the reference; see tests/data/images/README.md
    const auto file = open_file(kFolder + name);
    ASSERT_TRUE(file);
    const auto bytes = (*file)->view(0, (*file)->size());
    ASSERT_TRUE(bytes);
    const auto image = decode_image({bytes->data(), bytes->size()});
    ASSERT_TRUE(image) << image.error().message;
    ASSERT_EQ(sha256_of(*image), entry.find("rgb_sha256")->as_string());
    for (const Processor& processor : processors()) {
      const Json* expected = entry.find("processors")->find(processor.name);
      ASSERT_NE(expected, nullptr);
      expect_processed(*image, processor, *expected);
    }
  }
}

void expect_size(const Json& row, const Result<ImageSize>& size) {
  SCOPED_TRACE(row.dump());
  const Json* expected = row.find("resized_hw");
  ASSERT_EQ(size.has_value(), expected != nullptr);
  if (size) {
    EXPECT_EQ(*size, size_of(*expected));
  }
}

TEST(ImageGolden, SizesAreAsRecordedAndErrorsWhereTheReferenceRaises) {
  const Json golden = read_json(kFolder + "golden.json");
  const Json& table = *golden.find("size_table");
  for (const Json& row : table.find("qwen3_5")->as_array()) {
    expect_size(row,
                size_in_pixel_budget(size_of(*row.find("hw")), {.factor = number(row, "factor"),
                                                                .min_pixels = number(row, "min"),
                                                                .max_pixels = number(row, "max")}));
  }
  for (const Json& row : table.find("gemma4")->as_array()) {
    expect_size(row, size_in_token_budget(size_of(*row.find("hw")),
                                          {.max_soft_tokens = number(row, "max_soft_tokens")}));
  }
}

}  // namespace
}  // namespace tokamak::golden
