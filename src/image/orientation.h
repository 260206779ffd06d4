// How a camera held the image: the one tag of EXIF that changes pixels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "image/image.h"

namespace tokamak {

/// Values of EXIF's tag 0x0112: what is done to the stored pixels to see the image upright.
enum class Orientation : uint8_t {
  kUpright = 1,
  kMirrorX,  // left and right change places
  kHalfTurn,
  kMirrorY,     // top and bottom change places
  kTranspose,   // rows become columns
  kClockwise,   // a quarter turn
  kTransverse,  // rows become columns, from the other corner
  kCounterClockwise,
};

/// The orientation in EXIF data, a TIFF header and its first directory, with or without "Exif\0\0"
/// in front. kUpright where there is none or the data is damaged: viewers show such images, too.
Orientation exif_orientation(std::span<const std::byte> exif);

/// The image upright.
Image upright(Image image, Orientation orientation);

}  // namespace tokamak
