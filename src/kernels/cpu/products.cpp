#include "kernels/cpu/products.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/cpu/panel_task.h"

namespace tokamak {
namespace {

/// Whether the products of the matrix go by words of x.
bool multiplies_words(const CpuTensor& w) {
  return w.panels != nullptr && w.panels->code != PanelCode::kFloats && !w.panels->is_exact;
}

/// x [rows, columns] for products with that matrix.
ProductInput product_input(ThreadPool& pool, std::span<const float> x, const CpuTensor& w,
                           std::span<const PartProduct> parts) {
  ProductInput input{.x = x, .columns = w.dims[1]};
  if (input.columns == 0) return input;
  input.rows = x.size() / input.columns;
  if (input.rows == 0 || !multiplies_words(w)) return input;
  for (const PartProduct& part : parts) {
    input.begins.push_back(input.begins.back() + part.rows(input.rows));
  }
  const size_t blocks = input.begins.back() * w.panels->blocks;
  input.words.resize(blocks * kBlockColumns);
  input.steps.resize(blocks);
  input.scales = w.panels->group < kBlockColumns ? 2 : 1;
  input.sums.resize(input.scales * blocks);
  fill_words(pool, parts, input);
  return input;
}

/// Rows of x that all parts meet.
size_t rows_of(std::span<const float> x, const CpuTensor& w, std::span<const PartProduct> parts) {
  size_t rows = 0;
  for (const PartProduct& part : parts) {
    rows += part.rows(x.size() / std::max(w.dims[1], 1u));
  }
  return rows;
}

}  // namespace

bool multiplies_tiles(DType dtype) {
  if (dtype == DType::kBF16) return true;
  return is_packed(dtype) && PanelLayout(dtype, kPanelRows, 256).code != PanelCode::kFloats;
}

void multiply(ThreadPool& pool, std::span<const float> from, const CpuTensor& w, const float* bias,
              std::span<const PartProduct> parts, const TileUnit* unit) {
  const bool is_rounded = w.panels != nullptr ? multiplies_words(w) : w.dtype == DType::kBF16;
  if (unit != nullptr && is_rounded && rows_of(from, w, parts) >= kMinTileRows * parts.size()) {
    return multiply_tiles(pool, *unit, from, w, bias, parts);
  }
  const ProductInput x = product_input(pool, from, w, parts);
  std::vector<size_t> begins = {0};  // of each part, counted in panels
  for (const PartProduct& part : parts) {
    TOK_CHECK(part.first + part.count <= w.dims[0]);
    begins.push_back(begins.back() + panel_count(part));
  }
  float numbers[256] = {};
  if (w.panels != nullptr && w.panels->code == PanelCode::kFloats) {
    for (uint32_t q = 0; q < 1u << w.panels->format->bits; ++q) {
      numbers[q] = panel_value(*w.panels, q);
    }
  }
  const bool by_words = multiplies_words(w);
  pool.run(begins.back(), [&](size_t first, size_t last) {
    size_t at = part_of(begins, first);
    for (size_t i = first; i < last; ++i) {
      while (i >= begins[at + 1]) ++at;
      const PartProduct& part = parts[at];
      const size_t own = first_panel(part) + i - begins[at];
      const PanelTask task{{w, bias, part, own}, x, w.panels, by_words ? x.begins[at] : 0};
      by_words ? multiply_words(task) : multiply_floats(task, numbers);
    }
  });
}

}  // namespace tokamak
