#include "image/sizes.h"

#include <algorithm>
#include <cmath>

namespace tokamak {
namespace {

/// The nearest whole number, halves to the even one, as Python rounds.
double rounded_half_even(double x) {
  const double below = std::floor(x);
  const double rest = x - below;
  if (rest != 0.5) return std::round(x);
  return std::fmod(below, 2.0) == 0 ? below : below + 1;
}

/// A small min_pixels rounds the shorter side of a long image to nothing.
ImageSize at_least_one_factor(double height, double width, uint32_t factor) {
  return {.width = std::max(factor, uint32_t(width)), .height = std::max(factor, uint32_t(height))};
}

}  // namespace

Result<ImageSize> size_in_pixel_budget(ImageSize image, const PixelBudget& budget) {
  constexpr double kMaxRatio = 200;
  const double h = image.height, w = image.width, f = budget.factor;
  if (std::max(h, w) / std::min(h, w) > kMaxRatio) {
    return invalid_input(
        "The image is {} x {} pixels, one side more than {} times the other; cut it first.",
        image.width, image.height, kMaxRatio);
  }
  double height = rounded_half_even(h / f) * f, width = rounded_half_even(w / f) * f;
  if (height * width > double(budget.max_pixels)) {
    const double shrink = std::sqrt(h * w / double(budget.max_pixels));
    height = std::floor(h / shrink / f) * f;
    width = std::floor(w / shrink / f) * f;
  } else if (height * width < double(budget.min_pixels)) {
    const double grow = std::sqrt(double(budget.min_pixels) / (h * w));
    height = std::ceil(h * grow / f) * f;
    width = std::ceil(w * grow / f) * f;
  }
  return at_least_one_factor(height, width, budget.factor);
}

Result<ImageSize> size_in_token_budget(ImageSize image, const TokenBudget& budget) {
  const double h = image.height, w = image.width;
  const double square = double(budget.patch) * budget.pooling;
  const double factor = std::sqrt(square * square * budget.max_soft_tokens / (h * w));
  double height = std::floor(factor * h / square) * square;
  double width = std::floor(factor * w / square) * square;
  const double longest = square * budget.max_soft_tokens;
  if (height == 0 && width == 0) {
    return invalid_input(
        "The image is {} x {} pixels and would become 0 x 0; make it larger first.", image.width,
        image.height);
  }
  if (height == 0) {
    height = square;
    width = std::min(std::floor(w / h) * square, longest);
  } else if (width == 0) {
    width = square;
    height = std::min(std::floor(h / w) * square, longest);
  }
  return ImageSize{.width = uint32_t(width), .height = uint32_t(height)};
}

ImageSize size_to_longest(ImageSize image, uint32_t longest) {
  const double ratio = double(image.width) / image.height;
  const bool is_wide = image.width >= image.height;
  auto shorter = uint32_t(is_wide ? longest / ratio : longest * ratio);
  shorter = std::max(shorter + shorter % 2, 1u);
  if (is_wide) return {.width = longest, .height = shorter};
  return {.width = shorter, .height = longest};
}

ImageSize size_in_squares(ImageSize image, uint32_t side) {
  const auto whole = [side](uint32_t pixels) {
    return uint32_t(std::ceil(double(pixels) / side)) * side;
  };
  const double ratio = double(image.width) / image.height;
  if (image.width >= image.height) {
    const uint32_t width = whole(image.width);
    return {.width = width, .height = std::max(whole(uint32_t(width / ratio)), side)};
  }
  const uint32_t height = whole(image.height);
  return {.width = std::max(whole(uint32_t(height * ratio)), side), .height = height};
}

ImageSize size_in_side_budget(ImageSize image, const SideBudget& budget) {
  double h = image.height, w = image.width;
  const double f = budget.factor, shrink = std::max(h, w) / budget.longest;
  if (shrink > 1) {
    h = std::floor(h / shrink);
    w = std::floor(w / shrink);
  }
  const double most = double(budget.max_pixels);
  double height = std::max(std::ceil(h / f), 1.0) * f, width = std::max(std::ceil(w / f), 1.0) * f;
  if (height * width > most) {
    const double more = std::sqrt(height * width / most);
    height = std::max(std::floor(height / more / f), 1.0) * f;
    width = std::max(std::floor(width / more / f), 1.0) * f;
    // One square of a long image's shorter side may be more than its share.
    const double alone = std::floor(most / f / f) * f;
    if (height == f) width = std::min(width, alone);
    if (width == f) height = std::min(height, alone);
  }
  return at_least_one_factor(height, width, budget.factor);
}

}  // namespace tokamak
