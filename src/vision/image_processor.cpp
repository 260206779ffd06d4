#include "vision/image_processor.h"

#include <algorithm>

#include "model/config.h"

namespace tokamak {
namespace {

constexpr std::array<float, 3> kHalf = {0.5f, 0.5f, 0.5f};
// CLIP's.
constexpr std::array<float, 3> kClipMean = {0.48145466f, 0.4578275f, 0.40821073f};
constexpr std::array<float, 3> kClipStd = {0.26862954f, 0.26130258f, 0.27577711f};

/// The three numbers of a field, one for each channel; `otherwise` where it is not there.
std::array<float, 3> channels(ConfigReader& config, std::string_view name,
                              const std::array<float, 3>& otherwise) {
  if (!config.has(name)) return otherwise;
  const std::vector<double> found = config.positives(name, 3);
  if (found.size() != 3) return otherwise;
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
      .min_pixels = size.size("shortest_edge", config.size("min_pixels", tower.min_pixels)),
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

/// A side in pixels, which older files have as a number and newer ones in an object.
void expect_side(ConfigReader& config, std::string_view name,
                 std::initializer_list<std::string_view> fields, uint32_t side) {
  const Json* const found = config.find(name);
  if (found == nullptr || !found->is_object()) return expect_size(config, name, side);
  ConfigReader inside = config.at(name);
  for (const std::string_view field : fields) expect_size(inside, field, side);
  config.adopt(inside.status());
}

/// CLIP's: images are cut or, in LLaVA's own processor, get margins of the mean colour.
ImageProcessor::Centre read_centre(ConfigReader& config, const VisionTower& tower,
                                   const std::array<float, 3>& mean) {
  const uint32_t side = tower.image_side;
  ImageProcessor::Centre own = {.side = side};
  expect_side(config, "size", {"shortest_edge"}, side);
  expect_side(config, "crop_size", {"height", "width"}, side);
  if (config.flag("do_pad", false)) {
    own.margin.emplace();
    for (size_t i = 0; i < mean.size(); ++i) (*own.margin)[i] = uint8_t(mean[i] * 255);
  }
  for (const char* name : {"do_resize", "do_center_crop"}) {
    if (config.flag(name, true)) continue;
    config.reject({ErrorCode::kUnsupported,
                   fmt::format("{} is false; this engine knows true.", config.path(name))});
  }
  return own;
}

/// The filter that `resample` names in Pillow's numbers.
ResizeFilter read_filter(ConfigReader& config, uint32_t otherwise) {
  const uint32_t number = config.size("resample", otherwise);
  if (number == 1) return ResizeFilter::kLanczos;
  if (number == 2) return ResizeFilter::kBilinear;
  if (number == 3) return ResizeFilter::kBicubic;
  config.reject({ErrorCode::kUnsupported,
                 fmt::format("{} is {}; this engine has 1 (Lanczos), 2 (bilinear) and 3 (bicubic).",
                             config.path("resample"), number)});
  return ResizeFilter::kLanczos;
}

/// Gemma 4's, whose tower takes pixels from -1 to 1 whatever the file says of mean and std.
TokenBudget read_tokens(ConfigReader& config, const VisionTower& tower) {
  expect_size(config, "patch_size", tower.patch);
  expect_size(config, "pooling_kernel_size", tower.side);
  return {.patch = tower.patch, .pooling = tower.side, .max_soft_tokens = tower.max_rows()};
}

Result<ImageSize> size_by(ImageSize image, const PixelBudget& budget) {
  return size_in_pixel_budget(image, budget);
}
Result<ImageSize> size_by(ImageSize image, const TokenBudget& budget) {
  return size_in_token_budget(image, budget);
}
Result<ImageSize> size_by(ImageSize image, const SideBudget& budget) {
  return size_in_side_budget(image, budget);
}
Result<ImageSize> size_by(ImageSize, const ImageSize& square) {
  return square;
}
Result<ImageSize> size_by(ImageSize image, const ImageProcessor::Squares& squares) {
  if (!squares.splits) return ImageSize{squares.side, squares.side};
  return size_in_squares(size_to_longest(image, squares.longest), squares.side);
}

Result<ImageSize> size_by(ImageSize image, const ImageProcessor::Centre& centre) {
  constexpr uint64_t kMaxRatio = 200;
  const auto [shorter, longer] = std::minmax(image.width, image.height);
  if (centre.margin) {
    // with_margins() makes a square of it, which the limits of files do not know of.
    auto square = check_image_size(longer, longer, {});
    if (!square) return Failure(square.error().within("with margins that make it a square"));
  }
  if (longer <= kMaxRatio * shorter) return ImageSize{centre.side, centre.side};
  return invalid_input(
      "The image has {} x {} pixels: its sides differ by more than a factor of {}.", image.width,
      image.height, kMaxRatio);
}

/// The size of an image whose shorter side becomes `side` pixels.
ImageSize size_to_shortest(ImageSize image, uint32_t side) {
  const uint64_t shorter = std::min(image.width, image.height);
  return {uint32_t(uint64_t{side} * image.width / shorter),
          uint32_t(uint64_t{side} * image.height / shorter)};
}

/// A square with the image in its middle.
Image with_margins(const Image& image, const std::array<uint8_t, 3>& colour) {
  const uint32_t side = std::max(image.width, image.height);
  Image out = black_image(side, side);
  for (size_t i = 0; i < out.rgb.size(); ++i) out.rgb[i] = colour[i % 3];
  const size_t left = (side - image.width) / 2, top = (side - image.height) / 2;
  const size_t bytes = size_t{image.width} * 3;
  for (size_t row = 0; row < image.height; ++row) {
    std::copy_n(image.rgb.begin() + std::ptrdiff_t(row * bytes), bytes,
                out.rgb.begin() + std::ptrdiff_t(((top + row) * side + left) * 3));
  }
  return out;
}

/// The part of an image that begins at a pixel.
Image cropped(const Image& image, uint32_t x, uint32_t y, uint32_t side) {
  Image out = black_image(side, side);
  const size_t bytes = size_t{side} * 3;
  for (uint32_t row = 0; row < side; ++row) {
    const auto from = image.rgb.begin() + std::ptrdiff_t((size_t{y + row} * image.width + x) * 3);
    std::copy_n(from, bytes, out.rgb.begin() + std::ptrdiff_t(row * bytes));
  }
  return out;
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
                 .mean = kHalf,
                 .std = kHalf};
  const LineMarks* lines = std::get_if<LineMarks>(&tower.parts);
  if (!tower.fills_tokens) {
    own.layout_.mean = channels(config, "image_mean", tower.clip_colours ? kClipMean : kHalf);
    own.layout_.std = channels(config, "image_std", tower.clip_colours ? kClipStd : kHalf);
  }
  if (const Tiles* tiles = std::get_if<Tiles>(&tower.parts)) {
    own.size_ = Squares{tower.image_side, tiles->longest, tiles->splits};
    own.filter_ = read_filter(config, 1);
  } else if (lines != nullptr) {
    own.size_ = SideBudget{tower.patch * tower.side, lines->longest, max_pixels};
    own.filter_ = read_filter(config, 3);
  } else if (tower.keeps_ratio) {
    own.size_ = read_centre(config, tower, own.layout_.mean);
    own.filter_ = read_filter(config, 3);
  } else if (tower.image_side != 0) {
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
  if (const Centre* centre = std::get_if<Centre>(&size_)) {
    if (centre->margin) {
      return resized(with_margins(image, *centre->margin), size, filter_);
    }
    const ImageSize whole = size_to_shortest({image.width, image.height}, centre->side);
    image = resized(std::move(image), whole, filter_);
    return cropped(image, (whole.width - size.width) / 2, (whole.height - size.height) / 2,
                   centre->side);
  }
  // Twice, as the reference does it.
  if (const Squares* squares = std::get_if<Squares>(&size_)) {
    const ImageSize first = size_to_longest({image.width, image.height}, squares->longest);
    image = resized(std::move(image), first, filter_);
  }
  return resized(std::move(image), size, filter_);
}

PatchGrid ImageProcessor::squares(ImageSize resized) const {
  const Squares* squares = std::get_if<Squares>(&size_);
  if (squares == nullptr) return {.rows = 1, .columns = 1};
  return {.rows = resized.height / squares->side, .columns = resized.width / squares->side};
}

std::vector<Image> ImageProcessor::parts(Image image) const {
  const PatchGrid grid = squares({image.width, image.height});
  std::vector<Image> out;
  if (grid.patches() > 1) {
    const uint32_t side = image.width / grid.columns;
    for (uint32_t i = 0; i < grid.patches(); ++i) {
      const auto [row, column] = grid.place(i);
      out.push_back(cropped(image, column * side, row * side, side));
    }
    image = resized(std::move(image), {side, side}, filter_);
  }
  out.push_back(std::move(image));
  return out;
}

}  // namespace tokamak
