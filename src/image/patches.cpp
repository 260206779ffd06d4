#include "image/patches.h"

#include <array>

#include "base/check.h"

namespace tokamak {
namespace {

/// The value that each byte of each channel becomes.
using Values = std::array<std::array<float, 256>, 3>;

Values values_of(const PatchLayout& layout) {
  Values values;
  for (uint32_t c = 0; c < 3; ++c) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      values[c][byte] = (float(byte) - 255 * layout.mean[c]) / (255 * layout.std[c]);
    }
  }
  return values;
}

/// Writes the patch whose first pixel is (x, y); gives what follows it.
float* write_patch(const Image& image, const PatchLayout& layout, const Values& values, uint32_t x,
                   uint32_t y, float* to) {
  const uint32_t p = layout.patch;
  const auto row_of = [&](uint32_t i) { return &image.rgb[(size_t{y + i} * image.width + x) * 3]; };
  if (layout.channels_last) {
    for (uint32_t i = 0; i < p; ++i) {
      const uint8_t* const row = row_of(i);
      for (uint32_t j = 0; j < 3 * p; ++j) *to++ = values[j % 3][row[j]];
    }
    return to;
  }
  for (uint32_t c = 0; c < 3; ++c) {
    for (uint32_t frame = 0; frame < layout.frames; ++frame) {
      for (uint32_t i = 0; i < p; ++i) {
        const uint8_t* const row = row_of(i);
        for (uint32_t j = 0; j < p; ++j) *to++ = values[c][row[3 * j + c]];
      }
    }
  }
  return to;
}

}  // namespace

Patches patches_of(const Image& image, const PatchLayout& layout) {
  const uint32_t p = layout.patch, merge = layout.merge;
  TOK_CHECK(image.width % (p * merge) == 0 && image.height % (p * merge) == 0);
  Patches patches = {.rows = image.height / p, .columns = image.width / p};
  const uint32_t frames = layout.channels_last ? 1 : layout.frames;
  patches.values.resize(size_t{image.width} * image.height * 3 * frames);
  const Values values = values_of(layout);
  float* to = patches.values.data();
  for (uint32_t block_y = 0; block_y < patches.rows; block_y += merge) {
    for (uint32_t block_x = 0; block_x < patches.columns; block_x += merge) {
      for (uint32_t i = 0; i < merge * merge; ++i) {
        to = write_patch(image, layout, values, (block_x + i % merge) * p,
                         (block_y + i / merge) * p, to);
      }
    }
  }
  return patches;
}

}  // namespace tokamak
