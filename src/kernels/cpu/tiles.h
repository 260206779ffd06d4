// Units of a processor that multiply tiles of bf16 into f32: AMX, and AVX-512 with BF16.
//
// A tile of x is [16 rows][32 columns] of bf16, one of weights [16 pairs of columns][16 rows][2];
// both have 1 KiB, and 32 columns of a matrix are one such tile for every 16 rows of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tokamak {

inline constexpr size_t kTileRows = 16, kTileColumns = 32, kTileSize = kTileRows * kTileColumns;

struct TileUnit {
  std::string_view name;
  /// Whether it is so much faster than products of words that packed matrices gain from it, whose
  /// weights then are rounded to bf16. Matrices of bf16 gain from each of them.
  bool for_packed;
  /// Takes the unit for this thread, and gives it back.
  void (*begin)();
  void (*end)();
  /// c [2][2][16 rows of x][16 rows of w] becomes the products of two rows of tiles with two, or
  /// has them added. The tiles of a row lie one after the other; the second row of them begins
  /// x_stride or w_stride elements after the first.
  void (*multiply)(const uint16_t* x, size_t x_stride, const uint16_t* w, size_t w_stride,
                   size_t tiles, bool adds, float* c);
  /// Writes the tile of weights of 16 rows of bf16, `row_bytes` apart.
  void (*interleave)(const std::byte* rows, size_t row_bytes, uint16_t* tile);
};

/// The units of this processor that the system lets programs use, the fastest first.
std::span<const TileUnit* const> tile_units();

/// The fastest of them; null if there is none.
inline const TileUnit* tile_unit() {
  return tile_units().empty() ? nullptr : tile_units().front();
}

}  // namespace tokamak
