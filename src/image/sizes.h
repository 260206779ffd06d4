// To which size the processors of models resize an image. Reference: smart_resize,
// get_aspect_ratio_preserving_size, get_resize_output_image_size and resize_for_vision_encoder in
// transformers' image processors.
#pragma once
#include <cstdint>

#include "image/image.h"

namespace tokamak {

/// Qwen2-VL to Qwen3.5: sides that are multiples of `factor`, the ratio about kept, and between
/// `min_pixels` and `max_pixels` in all.
struct PixelBudget {
  uint32_t factor = 32;  // the pixels of a patch's side, times the patches that are merged
  uint64_t min_pixels = 65'536;
  uint64_t max_pixels = 16'777'216;
};

/// An error for an image more than 200 times as long as wide.
Result<ImageSize> size_in_pixel_budget(ImageSize image, const PixelBudget& budget);

/// Gemma 4: the ratio about kept, the largest size of at most `max_soft_tokens` squares of
/// `pooling` x `pooling` patches. Small images are enlarged to it.
struct TokenBudget {
  uint32_t patch = 16;
  uint32_t pooling = 3;
  uint32_t max_soft_tokens = 280;
};

/// An error for an image so long that nothing of its shorter side would be left.
Result<ImageSize> size_in_token_budget(ImageSize image, const TokenBudget& budget);

/// Idefics 3: the longer side becomes `longest` pixels, the shorter one an even number of them, the
/// ratio about kept. Small images are enlarged to it.
ImageSize size_to_longest(ImageSize image, uint32_t longest);

/// The smallest size of whole squares of `side` pixels, the ratio of the longer sides kept.
ImageSize size_in_squares(ImageSize image, uint32_t side);

/// Pixtral: the ratio kept, both sides at most `longest` and at most `max_pixels` in all, then up
/// to multiples of `factor`. Small images keep their size.
struct SideBudget {
  uint32_t factor = 32;  // the pixels of a patch's side, times the patches that are merged
  uint32_t longest = 1540;
  uint64_t max_pixels = 16'777'216;
};

ImageSize size_in_side_budget(ImageSize image, const SideBudget& budget);

}  // namespace tokamak
