// Image: pixels as the processors of models take them, and how large one may be.
#pragma once
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace tokamak {

/// 8 bits of red, green and blue for each pixel: rgb is [height, width, 3].
struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> rgb;
};

struct ImageSize {
  uint32_t width = 0;
  uint32_t height = 0;
  bool operator==(const ImageSize&) const = default;
};

/// The limits of a file before anything of it is decoded.
struct ImageLimits {
  uint64_t max_file_bytes = uint64_t{64} << 20;
  uint64_t max_pixels = 64'000'000;
};

/// An error for an image without pixels or with more than `limits` allow.
Result<void> check_image_size(uint64_t width, uint64_t height, const ImageLimits& limits);

/// An image of that size whose pixels are all black. REQUIRES: check_image_size.
Image black_image(uint32_t width, uint32_t height);

}  // namespace tokamak
