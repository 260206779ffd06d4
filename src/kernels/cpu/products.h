// Matrix products on a processor:  y = x Wᵀ (+ bias), in vectors, on all threads of a pool.
//
// Weights of packed types whose levels are whole numbers are multiplied as 16-bit words with x in
// 16 bits: each block of 32 elements of a row of x becomes whole numbers of a step, a 32767th of
// its largest magnitude, and sums of a block are exact; what a row gives depends on the row alone,
// not on its neighbours in x. Of other types both sides are f32, and few rows are summed in another
// order than many.
//
// x of one row reads the panels as they lie, at the speed of memory; of several rows a part of a
// panel is decoded once for all of them. A block of x that holds what is no finite number makes all
// its results no numbers.
#pragma once
#include <span>
#include <vector>

#include "kernels/cpu/thread_pool.h"
#include "kernels/kernel.h"

namespace tokamak {

/// Rows of x in the forms that products need.
struct ProductInput {
  std::span<const float> x;
  size_t columns = 0;
  size_t rows = 0;
  std::vector<int16_t> words = {};  // [rows][blocks][32], in each four columns 0, 2, 1, 3
  std::vector<float> steps = {};    // [rows][blocks]
  std::vector<float> sums = {};     // [rows][blocks][2], of the words of each half block
};

/// x [rows, columns] for products with that matrix.
ProductInput product_input(ThreadPool& pool, std::span<const float> x, const CpuTensor& w);

/// Rows of a matrix times rows of x.
struct PartProduct {
  size_t first = 0, count = 0;            // rows of the matrix
  std::span<const uint32_t> x_rows = {};  // none: all, in order
  std::span<const uint32_t> y_rows = {};  // which rows of y they give; none: the same
  float* y = nullptr;                     // element [0, 0]; a row has `y_stride`
  size_t y_stride = 0;
};

/// Computes all parts; they write different elements. `bias`, of the matrix' rows, may be null.
void multiply(ThreadPool& pool, const ProductInput& x, const CpuTensor& w, const float* bias,
              std::span<const PartProduct> parts);

}  // namespace tokamak
