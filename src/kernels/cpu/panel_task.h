// A piece of a product: one panel of a matrix and the rows of x that it meets.
#pragma once
#include <algorithm>
#include <cstring>

#include "kernels/cpu/panels.h"
#include "kernels/cpu/products.h"

namespace tokamak {

/// Rows of x that share a decoded part of a panel, and the columns of the part.
constexpr size_t kRowsAtOnce = 256, kChunk = 256;
constexpr size_t kChunkBlocks = kChunk / kBlockColumns, kHalf = kBlockColumns / 2;

/// One panel and the rows of x it meets.
struct PanelTask {
  const ProductInput& x;
  const CpuTensor& w;
  const PanelLayout* layout;  // of packed types
  const float* bias;
  const PartProduct& part;
  size_t panel;  // of the matrix

  size_t x_rows() const { return part.x_rows.empty() ? x.rows : part.x_rows.size(); }
  size_t x_row(size_t i) const { return part.x_rows.empty() ? i : part.x_rows[i]; }
  size_t first_row() const { return panel * kPanelRows; }
  /// Rows that the matrix has in the panel.
  size_t row_count() const { return std::min(w.dims[0] - first_row(), size_t{kPanelRows}); }
  /// Stores results of the panel's rows, one for each lane, for row i of x: those of the part.
  void store(size_t i, const float* values) const {
    const size_t begin = std::max(part.first, first_row());
    const size_t end = std::min(part.first + part.count, first_row() + kPanelRows);
    const float* from = values + (begin - first_row());
    const size_t row = part.y_rows.empty() ? i : part.y_rows[i];
    float* to = part.y + row * part.y_stride + (begin - part.first);
    if (bias == nullptr) {
      std::memcpy(to, from, (end - begin) * sizeof(float));
    } else {
      for (size_t r = 0; r < end - begin; ++r) to[r] = from[r] + bias[begin + r];
    }
  }
  const std::byte* panel_data() const { return w.data + panel * layout->panel_bytes; }
};

/// The bytes that the q of a format become; a weight is a byte less `middle`, times `unit`.
struct LevelBytes {
  explicit LevelBytes(const PanelLayout& layout)
      : middle(layout.code == PanelCode::kLevels ? 128.0f : float(layout.middle)) {
    if (layout.code != PanelCode::kLevels) return;
    unit = layout.format->levels->unit;
    for (size_t i = 0; i < 16; ++i) {
      table[i] = uint8_t(128 + int(layout.format->levels->values[i]));
    }
  }
  alignas(16) uint8_t table[16] = {};
  float middle, unit = 1;
};

/// The products of packed matrices by words.
void multiply_words(const PanelTask& task);
/// The products of matrices of floats, and of packed types whose q stand for any `numbers`.
void multiply_floats(const PanelTask& task, std::span<const float> numbers);
/// Fills the words of x.
void fill_words(ThreadPool& pool, ProductInput& input);

}  // namespace tokamak
