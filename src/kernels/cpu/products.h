// Matrix products on a processor:  y = x Wᵀ (+ bias), in vectors, on all threads of a pool.
//
// Weights of packed types whose levels are whole numbers are multiplied as 16-bit words with x in
// 16 bits: each block of 32 elements of a row of x becomes whole numbers of a step, a 32767th of
// its largest magnitude, and sums of a block are exact; what a row gives depends on the row alone,
// not on its neighbours in x. Of other types both sides are f32, and few rows are summed in another
// order than many.
//
// x of one row or two reads the panels as they lie, at the speed of memory; of several rows a part
// of a panel is decoded once for all of them. A block of x that holds what is no finite number
// makes all its results no numbers.
#pragma once
#include <span>

#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/tiles.h"
#include "kernels/kernel.h"

namespace tokamak {

/// Rows of a matrix times rows of x.
struct PartProduct {
  size_t first = 0, count = 0;            // rows of the matrix
  std::span<const uint32_t> x_rows = {};  // none: all, in order
  std::span<const uint32_t> y_rows = {};  // which rows of y they give; none: the same
  float* y = nullptr;                     // element [0, 0]; a row has `y_stride`
  size_t y_stride = 0;

  /// How many rows of x it meets, of `all`.
  size_t rows(size_t all) const { return x_rows.empty() ? all : x_rows.size(); }
  /// Which row of x is its row i.
  size_t x_row(size_t i) const { return x_rows.empty() ? i : x_rows[i]; }
};

/// Computes all parts of x [rows, columns]; they write different elements. `bias`, of the matrix'
/// rows, may be null. With a unit for tiles, and rows enough for them, both sides become bf16.
void multiply(ThreadPool& pool, std::span<const float> x, const CpuTensor& w, const float* bias,
              std::span<const PartProduct> parts, const TileUnit* unit = nullptr);

/// Whether multiply() has a use for the unit: matrices of bf16, and packed ones whose levels are
/// whole numbers.
bool multiplies_tiles(DType dtype);
/// Rows of x from which tiles are worth it.
inline constexpr size_t kMinTileRows = 16;

}  // namespace tokamak
