// How the matrix units of a workgroup's subgroups divide a product: see matrix_tile.wgsl.
#pragma once
#include <algorithm>
#include <string>

#include "kernels/launch.h"

namespace tokamak {

/// Columns and rows of a tile, in fragments of kMatrixSide, and how they come into memory.
struct MatrixTile {
  uint32_t subgroups_t, subgroups_r;  // subgroups along the tokens and along the rows
  uint32_t fragments_t, fragments_r;  // of each
  uint32_t step;                      // fragments of columns that lie in workgroup memory
  uint32_t regions;                   // subgroups whose results lie there at a time
  uint32_t depth = 1;                 // steps that lie there at once
  uint32_t ahead = 1;                 // steps that are on their way
  bool spreads_lines = true;          // that lanes store at a time, over the banks of that memory

  constexpr uint32_t threads() const { return kMatrixLanes * subgroups_t * subgroups_r; }
  constexpr uint32_t unroll() const { return std::max(depth, ahead); }
  constexpr uint32_t tokens() const { return kMatrixSide * subgroups_t * fragments_t; }
  constexpr uint32_t rows() const { return kMatrixSide * subgroups_r * fragments_r; }
  /// The workgroup memory for a step of each token and row, padded, and the results.
  constexpr uint32_t bytes() const {
    return depth * (32 * step + 16) * (tokens() + rows()) + 1024 * regions + 32;
  }
};
/// NVIDIA's driver sets 48 KiB of a multiprocessor's memory aside, so that two workgroups share it
/// only below 23 KiB each; with one the kernels take twice as long (H200).
inline constexpr MatrixTile kSmallTile = {2, 2, 2, 2, 4, 4};
/// It has so few registers left that lines that are spread make it slower there, by a seventh.
inline constexpr MatrixTile kLargeTile = {.subgroups_t = 2,
                                          .subgroups_r = 2,
                                          .fragments_t = 4,
                                          .fragments_r = 4,
                                          .step = 2,
                                          .regions = 2,
                                          .spreads_lines = false};
/// CUDA leaves a multiprocessor all of its memory: the results of all subgroups lie there at once,
/// which saves half the barriers of an ending.
inline constexpr MatrixTile kLargeCudaTile = {2, 2, 4, 4, 2, 4};
/// 64 tokens by 128 rows, whose x is read half as often as by kSmallTile.
inline constexpr MatrixTile kWideCudaTile = {2, 4, 2, 2, 4, 8};
/// For at most 16, 32 and 64 tokens, as measured on an H100 (docs/history/performance.md). The
/// first takes more memory than that, for one barrier a step instead of two, which gains more.
inline constexpr MatrixTile kFewTiles[] = {
    {1, 4, 1, 1, 4, 1, 2, 2}, {1, 4, 2, 1, 4, 4, 1, 2}, kSmallTile};
static_assert(kFewTiles[0].bytes() <= 24 << 10 && kFewTiles[1].bytes() <= 23 << 10);
// Unrolled rounds begin with step 0 of both, again and again.
static_assert(std::ranges::all_of(kFewTiles, [](const MatrixTile& tile) {
  return tile.unroll() % tile.depth == 0 && tile.unroll() % tile.ahead == 0;
}));
static_assert(kLargeTile.bytes() <= 23 << 10 && kSmallTile.bytes() <= 23 << 10);

inline const MatrixTile& large_tile(const DeviceInfo& device) {
  return device.backend == BackendKind::kCuda ? kLargeCudaTile : kLargeTile;
}

/// The smallest tile for that many lines, which at most 64 are.
inline const MatrixTile& few_tile(uint32_t lines) {
  return *std::ranges::find_if(kFewTiles, [&](const MatrixTile& tile) {
    return tile.tokens() >= std::min(lines, kFewTiles[2].tokens());
  });
}

/// Why the device does not run it, "" if it does. `more_bytes`: workgroup memory that the kernel
/// has besides.
std::string tile_refuses(const MatrixTile& tile, const DeviceInfo& device, uint32_t more_bytes = 0);
/// `launch`, whose texts are what matrix_tile.wgsl asks of a kernel, with that text, the tile and
/// the problem's matrix. `by_columns`: that is stored transposed.
Launch with_tile(const Problem& p, const MatrixTile& tile, Launch launch, bool by_columns = false);

}  // namespace tokamak
