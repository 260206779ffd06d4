// Rows of the variant tables for low-rank adapters: the rows of x whose sequences have the same
// adapter are a part of one multiply().
#include <algorithm>
#include <vector>

#include "kernels/cpu/arrays.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/variants.h"

namespace tokamak {
namespace {

/// The rows of each adapter of a matrix with `rows` rows for every one; none of rows without one.
std::vector<std::vector<uint32_t>> rows_of_adapters(const CpuCall& call, size_t rows) {
  std::vector<std::vector<uint32_t>> found(call.inputs[1].dims[0] / rows);
  for (uint32_t t = 0; t < call.inputs[0].dims[0]; ++t) {
    const size_t adapter = call.batch.slot_of(t).adapter;
    if (adapter != 0 && adapter <= found.size()) found[adapter - 1].push_back(t);
  }
  return found;
}

/// y [T, rows] = x Wᵀ by the matrix of each row's adapter.
void multiply_own(const CpuCall& call, const std::vector<std::vector<uint32_t>>& own,
                  std::span<const float> x, float* y) {
  const size_t rows = call.inputs[1].dims[0] / own.size();
  std::vector<PartProduct> parts;
  for (size_t adapter = 0; adapter < own.size(); ++adapter) {
    if (own[adapter].empty()) continue;
    parts.push_back({.first = adapter * rows,
                     .count = rows,
                     .x_rows = own[adapter],
                     .y_rows = own[adapter],
                     .y = y,
                     .y_stride = rows});
  }
  multiply(*call.pool, x, call.inputs[1], nullptr, parts);
}

void lora_down(const CpuCall& call) {
  multiply_own(call, rows_of_adapters(call, call.as<LoraDown>().rank), call.inputs[0].f32(),
               call.outputs[0].f32().data());
}

void lora_up(const CpuCall& call) {
  const size_t n = call.outputs[0].dims[1], rank = call.inputs[1].dims[1];
  const size_t rows = call.outputs[0].dims[0];
  const std::vector<std::vector<uint32_t>> own = rows_of_adapters(call, n);
  std::vector<float> h(rows * rank), added(rows * n);
  for (size_t t = 0; t < rows; ++t) {
    std::ranges::copy(row_of(call.inputs[0], t).subspan(call.as<LoraUp>().first, rank),
                      h.begin() + std::ptrdiff_t(t * rank));
  }
  multiply_own(call, own, h, added.data());
  for (const std::vector<uint32_t>& some : own) {
    over_parts(call, some.size(), n, [&](size_t i) {
      const std::span<float> y = row_of(call.outputs[0], some[i]);
      add_arrays(y, std::span<const float>(added).subspan(some[i] * n, n), y);
    });
  }
}

constexpr KernelVariant kVariants[] = {
    vector_row<LoraDown>("lora_down.cpu.vectors", lora_down, kWordRounding),
    vector_row<LoraUp>("lora_up.cpu.vectors", lora_up, kWordRounding),
    exact_row<LoraDown>("lora_down.cpu.exact", lora_down),
    exact_row<LoraUp>("lora_up.cpu.exact", lora_up),
};

}  // namespace

std::span<const KernelVariant> vector_lora_variants() {
  return kVariants;
}

}  // namespace tokamak
