#include "image/patches.h"

#include <algorithm>

#include "base/check.h"

namespace tokamak {
namespace {

/// Appends the patch whose first pixel is (x, y).
void append_patch(const Image& image, const PatchLayout& layout, uint32_t x, uint32_t y,
                  std::vector<float>& values) {
  const uint32_t p = layout.patch;
  const auto value = [&](uint32_t row, uint32_t column, uint32_t c) {
    const float byte = image.rgb[(size_t{y + row} * image.width + x + column) * 3 + c];
    return (byte - 255 * layout.mean[c]) / (255 * layout.std[c]);
  };
  if (layout.channels_last) {
    for (uint32_t i = 0; i < p * p * 3; ++i) values.push_back(value(i / 3 / p, i / 3 % p, i % 3));
    return;
  }
  for (uint32_t c = 0; c < 3; ++c) {
    for (uint32_t frame = 0; frame < layout.frames; ++frame) {
      for (uint32_t i = 0; i < p * p; ++i) values.push_back(value(i / p, i % p, c));
    }
  }
}

}  // namespace

Patches patches_of(const Image& image, const PatchLayout& layout) {
  const uint32_t p = layout.patch, merge = layout.merge;
  TOK_CHECK(image.width % (p * merge) == 0 && image.height % (p * merge) == 0);
  Patches patches = {.rows = image.height / p, .columns = image.width / p};
  patches.values.reserve(size_t{image.width} * image.height * 3 * layout.frames);
  for (uint32_t block_y = 0; block_y < patches.rows; block_y += merge) {
    for (uint32_t block_x = 0; block_x < patches.columns; block_x += merge) {
      for (uint32_t i = 0; i < merge * merge; ++i) {
        append_patch(image, layout, (block_x + i % merge) * p, (block_y + i / merge) * p,
                     patches.values);
      }
    }
  }
  return patches;
}

}  // namespace tokamak
