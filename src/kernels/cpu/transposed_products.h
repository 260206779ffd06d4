// Products with the columns of packed matrices: y[c] = sum over r of x[r] w[r, c].
#pragma once
#include <span>

#include "kernels/cpu/panels.h"

namespace tokamak {

/// Rows and columns of a packed matrix that rows of x meet.
struct TransposedPart {
  const PanelLayout* layout = nullptr;
  const std::byte* panels = nullptr;
  size_t first_row = 0, rows = 0;
  size_t first_column = 0, columns = 0;  // whole blocks, as far as there are columns
  size_t tokens = 0;
  const float* x = nullptr;  // of the first row of the part
  size_t x_stride = 0;
  float* y = nullptr;  // of its first column
  size_t y_stride = 0;
};

/// Computes a part, in f32. REQUIRES: the levels are whole numbers.
void multiply_transposed(const TransposedPart& part);

}  // namespace tokamak
