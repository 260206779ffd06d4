#include "vision/image_processor.h"

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

}  // namespace

Result<ImageProcessor> ImageProcessor::read(const Json* file, const VisionTower& tower,
                                            uint64_t max_pixels) {
  const Json none{Json::Object()};
  ConfigReader config(file != nullptr ? *file : none, "preprocessor_config.json");
  expect_size(config, "patch_size", tower.patch);
  expect_size(config, "temporal_patch_size", tower.frames);
  expect_size(config, "merge_size", tower.side);
  ImageProcessor own;
  own.layout_ = {.patch = tower.patch,
                 .merge = tower.side,
                 .frames = tower.frames,
                 .mean = channels(config, "image_mean", 0.5f),
                 .std = channels(config, "image_std", 0.5f)};
  ConfigReader size = config.at("size");
  own.budget_ = {.factor = tower.patch * tower.side,
                 .min_pixels = size.size("shortest_edge", config.size("min_pixels", 65'536)),
                 .max_pixels = size.size("longest_edge", config.size("max_pixels", 16'777'216))};
  TOK_TRY(config.status());
  TOK_TRY(size.status());
  own.budget_.max_pixels = std::min(own.budget_.max_pixels, max_pixels);
  own.budget_.min_pixels = std::min(own.budget_.min_pixels, own.budget_.max_pixels);
  return own;
}

Result<Image> ImageProcessor::resize(Image image) const {
  TOK_TRY(const ImageSize size, size_in_pixel_budget({image.width, image.height}, budget_));
  return resized(std::move(image), size, ResizeFilter::kBicubic);
}

}  // namespace tokamak
