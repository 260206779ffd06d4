// A piece of a product: one panel of a matrix and the rows of x that it meets.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cpu/panels.h"
#include "kernels/cpu/products.h"

namespace tokamak {

/// Rows of x that share a decoded part of a panel, and the columns of the part.
constexpr size_t kRowsAtOnce = 256, kChunk = 256;
constexpr size_t kChunkBlocks = kChunk / kBlockColumns;

/// Rows of x in the forms that products need. Words are for each part, since which rows share the
/// registers of a product is its matter: rows that do lie together, see word_products.cpp.
struct ProductInput {
  std::span<const float> x;
  size_t columns = 0;
  size_t rows = 0;
  std::vector<size_t> begins = {0};  // rows of words before those of each part, and all of them
  std::vector<int16_t> words = {};   // [rows][blocks][32]
  std::vector<float> steps = {};     // [rows][blocks]
  size_t scales = 1;                 // of the matrix in each block
  std::vector<int32_t> sums = {};    // [rows][blocks][scales], of the words that meet a scale
};

/// The panels of a matrix that hold the rows of a part: the first of them, and how many.
inline size_t first_panel(const PartProduct& part) {
  return part.first / kPanelRows;
}
inline size_t panel_count(const PartProduct& part) {
  return ceil_div(part.first + part.count, size_t{kPanelRows}) - first_panel(part);
}

/// Which part has piece i, where part p has those from begins[p] on.
inline size_t part_of(std::span<const size_t> begins, size_t i) {
  return size_t(std::ranges::upper_bound(begins, i) - begins.begin()) - 1;
}

/// Asks for a line of weights that are needed soon, which need not exist. Into the second-level
/// cache: the first one has room for fewer requests than memory at its speed has under way.
inline void ask_for(const void* weights) {
  constexpr int kRead = 0, kSecondLevel = 2;
  __builtin_prefetch(weights, kRead, kSecondLevel);
}

/// Calls body<low bits, high bits, whether there is a table of levels>() for a panel's q, which are
/// whole numbers.
template <typename Body>
void with_format(const PanelLayout& layout, const Body& body) {
  const bool levels = layout.code == PanelCode::kLevels;
  switch (layout.format->bits) {
    case 2:
      return levels ? body.template operator()<2, 0, true>()
                    : body.template operator()<2, 0, false>();
    case 3:
      return levels ? body.template operator()<2, 1, true>()
                    : body.template operator()<2, 1, false>();
    case 4:
      return levels ? body.template operator()<4, 0, true>()
                    : body.template operator()<4, 0, false>();
    case 5:
      return body.template operator()<4, 1, false>();
    case 6:
      return body.template operator()<4, 2, false>();
    default:
      return body.template operator()<8, 0, false>();
  }
}

/// One panel of a matrix, and where its products go.
struct PanelPlace {
  const CpuTensor& w;
  const float* bias;
  const PartProduct& part;
  size_t panel;  // of the matrix

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
};

/// One panel and the rows of x it meets.
struct PanelTask : PanelPlace {
  const ProductInput& x;
  const PanelLayout* layout;  // of packed types
  size_t word_row = 0;        // in which the words of the part's row 0 are

  size_t x_rows() const { return part.rows(x.rows); }
  size_t x_row(size_t i) const { return part.x_row(i); }
  const std::byte* panel_data() const { return w.data + panel * layout->panel_bytes; }
};

/// The bytes that the q of a format become; a weight is a byte less `middle`, times `unit`.
struct LevelBytes {
  explicit LevelBytes(const PanelLayout& layout)
      : middle(layout.code == PanelCode::kLevels ? 128 : int32_t(layout.middle)) {
    if (layout.code != PanelCode::kLevels) return;
    unit = layout.format->levels->unit;
    for (size_t i = 0; i < 16; ++i) {
      table[i] = uint8_t(128 + int(layout.format->levels->values[i]));
    }
  }
  alignas(16) uint8_t table[16] = {};
  int32_t middle;
  float unit = 1;
};

/// The products of packed matrices by words.
void multiply_words(const PanelTask& task);
/// The products of matrices of floats, and of packed types whose q stand for any `numbers`.
void multiply_floats(const PanelTask& task, std::span<const float> numbers);
/// Fills the words of x that the parts meet.
void fill_words(ThreadPool& pool, std::span<const PartProduct> parts, ProductInput& input);
/// The products of matrices of bf16 and of packed ones whose levels are whole numbers, by tiles.
void multiply_tiles(ThreadPool& pool, const TileUnit& unit, std::span<const float> x,
                    const CpuTensor& w, const float* bias, std::span<const PartProduct> parts);

}  // namespace tokamak
