#include "vision/image_processor.h"

#include <algorithm>

#include "model/config.h"

namespace tokamak {
namespace {

/// The three numbers of a field, one for each channel; `otherwise` where it is not there.
std::array<float, 3> channels(ConfigReader& config, std::string_view name, float otherwise) {
  if (!config.has(name)) return {otherwise, otherwise, otherwise};
  const std::vector<double> found = config.positives(name, 3);
  if (found.size() != 3) return {otherwise, otherwise, otherwise};
  return {float(found[0]), float(found[1]), float(found[2])};
}

/// A field's value must be what the tower was built for.
void expect_size(ConfigReader& config, std::string_view name, uint32_t expected) {
  const uint32_t found = config.size(name, expected);
  if (found == expected) return;
  config.reject({ErrorCode::kInvalidInput, fmt::format("{} is {}, but config.json says {}.",
                                                       config.path(name), found, expected)});
}

PixelBudget read_budget(ConfigReader& config, const VisionTower& tower, uint64_t max_pixels) {
  expect_size(config, "temporal_patch_size", tower.frames);
  expect_size(config, "merge_size", tower.side);
  ConfigReader size = config.at("size");
  PixelBudget budget = {
      .factor = tower.patch * tower.side,
      .min_pixels = size.size("shortest_edge", config.size("min_pixels", 65'536)),
      .max_pixels = size.size("longest_edge", config.size("max_pixels", 16'777'216))};
  config.adopt(size.status());
  budget.max_pixels = std::min(budget.max_pixels, max_pixels);
  budget.min_pixels = std::min(budget.min_pixels, budget.max_pixels);
  return budget;
}

/// All images become squares of the side that the tower takes.
ImageSize read_square(ConfigReader& config, const VisionTower& tower) {
  ConfigReader size = config.at("size");
  expect_size(size, "height", tower.image_side);
  expect_size(size, "width", tower.image_side);
  config.adopt(size.status());
  if (config.flag("do_pan_and_scan", false)) {
    config.reject({ErrorCode::kUnsupported,
                   fmt::format("{} is true; this engine shows an image to the model as a whole.",
                               config.path("do_pan_and_scan"))});
  }
  return {tower.image_side, tower.image_side};
}

/// Gemma 4's, whose tower takes pixels from -1 to 1 whatever the file says of mean and std.
TokenBudget read_tokens(ConfigReader& config, const VisionTower& tower) {
  expect_size(config, "patch_size", tower.patch);
  expect_size(config, "pooling_kernel_size", tower.side);
  const uint32_t tokens = config.size("max_soft_tokens", 280);
  return {.patch = tower.patch,
          .pooling = tower.side,
          .max_soft_tokens = std::min(tokens, tower.max_rows())};
}

Result<ImageSize> size_by(ImageSize image, const PixelBudget& budget) {
  return size_in_pixel_budget(image, budget);
}
Result<ImageSize> size_by(ImageSize image, const TokenBudget& budget) {
  return size_in_token_budget(image, budget);
}
Result<ImageSize> size_by(ImageSize, const ImageSize& square) {
  return square;
}

}  // namespace

Result<ImageProcessor> ImageProcessor::read(const Json* file, const VisionTower& tower,
                                            uint64_t max_pixels) {
  const Json none{Json::Object()};
  ConfigReader config(file != nullptr ? *file : none, "preprocessor_config.json");
  ImageProcessor own;
  own.layout_ = {.patch = tower.patch,
                 .merge = tower.side,
                 .frames = tower.frames,
                 .channels_last = tower.channels_last,
                 .mean = {0.5f, 0.5f, 0.5f},
                 .std = {0.5f, 0.5f, 0.5f}};
  if (!tower.fills_tokens) {
    own.layout_.mean = channels(config, "image_mean", 0.5f);
    own.layout_.std = channels(config, "image_std", 0.5f);
  }
  if (tower.image_side != 0) {
    own.size_ = read_square(config, tower);
    own.filter_ = ResizeFilter::kBilinear;
  } else if (tower.fills_tokens) {
    own.size_ = read_tokens(config, tower);
  } else {
    expect_size(config, "patch_size", tower.patch);
    own.size_ = read_budget(config, tower, max_pixels);
  }
  TOK_TRY(config.status());
  return own;
}

Result<ImageSize> ImageProcessor::size_for(ImageSize image) const {
  return std::visit([&](const auto& rule) { return size_by(image, rule); }, size_);
}

Result<Image> ImageProcessor::resize(Image image) const {
  TOK_TRY(const ImageSize size, size_for({image.width, image.height}));
  return resized(std::move(image), size, filter_);
}

}  // namespace tokamak
