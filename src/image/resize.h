// Resampling, bit for bit as the image processors of transformers do it (torchvision on bytes, and
// Pillow where the filter is Lanczos, which torchvision does not have).
//
// Separable and antialiased: along an axis of `in` pixels that becomes `out`, with
// s = max(in / out, 1), output i mixes the inputs around (i + 0.5) in / out within the filter's
// support times s. Weights are whole numbers of at most 16 bits, with as many fraction bits as the
// axis' largest weight leaves; those of Lanczos have 22. The horizontal pass comes first and is
// rounded to bytes; an axis that keeps its size is left alone. Filters of GPUs do not widen when
// they shrink: they differ.
#pragma once
#include <cstdint>

#include "image/image.h"

namespace tokamak {

enum class ResizeFilter : uint8_t {
  kBilinear,
  kBicubic,  // Keys 1981, with a = -0.5
  kLanczos,  // three lobes
};

/// REQUIRES: image and size have pixels.
Image resized(Image image, ImageSize size, ResizeFilter filter);

}  // namespace tokamak
