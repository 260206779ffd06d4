// The product of every reference: see linear.h.
#pragma once
#include <span>
#include <vector>

#include "kernels/kernel.h"

namespace tokamak {

/// Calls store(t, row, value) for every element of x Wᵀ + bias, in f64, row by row of W. `x` is
/// [T, in]; `bias` may be null.
void product(std::span<const float> x, const CpuTensor& w, const CpuTensor* bias, auto&& store) {
  const size_t out = w.dims[0], in = w.dims[1], tokens = x.size() / in;
  std::vector<float> row(in);
  for (size_t r = 0; r < out; ++r) {
    w.load_row(r, row);
    for (size_t t = 0; t < tokens; ++t) {
      double sum = 0;
      for (size_t i = 0; i < in; ++i) sum += double(x[t * in + i]) * row[i];
      store(t, r, sum + (bias == nullptr ? 0.0 : double(bias->load(r))));
    }
  }
}

}  // namespace tokamak
