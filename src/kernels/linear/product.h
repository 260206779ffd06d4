// The product of every reference: see linear.h.
#pragma once
#include <span>
#include <vector>

#include "kernels/kernel.h"

namespace tokamak {

/// Calls store(t, row, value) for every element of x W'ᵀ, in f64, row by row of W', which are the
/// `columns` columns of W from `first` on. `x` is [T, columns].
void product_of_columns(std::span<const float> x, const CpuTensor& w, size_t first, size_t columns,
                        auto&& store) {
  const size_t tokens = x.size() / columns;
  std::vector<float> row(w.dims[1]);
  for (size_t r = 0; r < w.dims[0]; ++r) {
    w.load_row(r, row);
    for (size_t t = 0; t < tokens; ++t) {
      double sum = 0;
      for (size_t i = 0; i < columns; ++i) sum += double(x[t * columns + i]) * row[first + i];
      store(t, r, sum);
    }
  }
}

/// The same of x Wᵀ + bias. `bias` may be null.
void product(std::span<const float> x, const CpuTensor& w, const CpuTensor* bias, auto&& store) {
  product_of_columns(x, w, 0, w.dims[1], [&](size_t t, size_t r, double sum) {
    store(t, r, sum + (bias == nullptr ? 0.0 : double(bias->load(r))));
  });
}

}  // namespace tokamak
