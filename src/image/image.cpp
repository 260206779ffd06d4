#include "image/image.h"

namespace tokamak {

Result<void> check_image_size(uint64_t width, uint64_t height, const ImageLimits& limits) {
  if (width == 0 || height == 0) {
    return invalid_input("The image is {} x {} pixels, expected at least 1 x 1.", width, height);
  }
  if (width > limits.max_pixels / height) {
    return invalid_input(
        "The image is {} x {} pixels, expected at most {} in all; make it smaller first.", width,
        height, limits.max_pixels);
  }
  return {};
}

Image black_image(uint32_t width, uint32_t height) {
  return {width, height, std::vector<uint8_t>(size_t{width} * height * 3)};
}

}  // namespace tokamak
