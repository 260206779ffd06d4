// An image as the rows that a vision tower's first product takes, one for each patch.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "image/image.h"

namespace tokamak {

struct PatchLayout {
  uint32_t patch = 16;  // pixels of a side
  /// Patches of a side that are neighbours in the order of rows: row of blocks, column of blocks,
  /// then row and column inside. 1: row by row.
  uint32_t merge = 1;
  /// How often a row repeats the channels: Qwen takes an image as a film of two equal frames.
  uint32_t frames = 1;
  /// A row is [patch, patch, 3] rather than [3, frames, patch, patch].
  bool channels_last = false;
  /// A value is (byte - 255 mean) / (255 std).
  std::array<float, 3> mean = {};
  std::array<float, 3> std = {1, 1, 1};
};

struct Patches {
  uint32_t rows = 0;          // patches from top to bottom
  uint32_t columns = 0;       // and from left to right
  std::vector<float> values;  // [rows columns, 3 frames patch patch]
};

/// REQUIRES: both sides are multiples of patch times merge.
Patches patches_of(const Image& image, const PatchLayout& layout);

}  // namespace tokamak
