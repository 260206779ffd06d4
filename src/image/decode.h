// Files of images to pixels; native builds only (in the browser the page decodes).
//
// PNG, JPEG and WebP, known by their first bytes. What comes out is what Pillow's
// convert("RGB") gives, turned upright: gray is copied to three channels, palettes are looked up,
// alpha is dropped and not blended, colour profiles are ignored, of animations the first frame is
// taken. Samples of 16 bits keep their high byte.
#pragma once
#include <cstddef>
#include <span>

#include "image/image.h"

namespace tokamak {

/// The image in a file. The header is held to `limits` before memory for pixels is asked for.
/// Errors do not name the file, which the caller adds with Error::within.
Result<Image> decode_image(std::span<const std::byte> file, const ImageLimits& limits = {});

}  // namespace tokamak
