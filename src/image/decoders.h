// One function for each format of decode.h: the pixels as they are stored, and how to turn them.
// All of them check the size in the header against `limits` first.
#pragma once
#include <cstddef>
#include <span>

#include "image/image.h"
#include "image/orientation.h"

namespace tokamak {

struct StoredImage {
  Image image;
  Orientation orientation = Orientation::kUpright;
};

Result<StoredImage> decode_png(std::span<const std::byte> file, const ImageLimits& limits);
Result<StoredImage> decode_jpeg(std::span<const std::byte> file, const ImageLimits& limits);
Result<StoredImage> decode_webp(std::span<const std::byte> file, const ImageLimits& limits);

}  // namespace tokamak
