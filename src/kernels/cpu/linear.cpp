// Rows of the variant tables for matrix products, by products.h.
#include <algorithm>
#include <memory>

#include "kernels/cpu/arrays.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/tile_variants.h"
#include "kernels/cpu/variants.h"
#include "kernels/linear/fused_linear.h"

namespace tokamak {
namespace {

/// y [T, rows of W] = x Wᵀ + bias.
void whole_product(const CpuCall& call, std::span<const float> x, const CpuTensor& w,
                   const CpuTensor* bias, const TileUnit* unit, float* y) {
  const PartProduct all{.count = w.dims[0], .y = y, .y_stride = w.dims[0]};
  multiply(*call.pool, x, w, bias == nullptr ? nullptr : bias->f32().data(), std::span(&all, 1),
           unit);
}

const CpuTensor* bias_of(const CpuCall& call) {
  return call.inputs.size() == 3 ? &call.inputs[2] : nullptr;
}

/// Memory for products that an ending goes through, of this thread and until its next product: a
/// prompt's may take 30 MB, whose pages would be made anew for each.
std::span<float> products_memory(size_t size) {
  static thread_local std::unique_ptr<float[]> memory;
  static thread_local size_t room = 0;
  if (size > room) {
    memory = std::make_unique_for_overwrite<float[]>(size);
    room = size;
  }
  return {memory.get(), size};
}

std::span<const float> products_of(const CpuCall& call, const TileUnit* unit) {
  const CpuTensor& w = call.inputs[1];
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = products_memory(x.size() / w.dims[1] * w.dims[0]);
  whole_product(call, x, w, bias_of(call), unit, y.data());
  return y;
}

template <ProductWay kWay>
void linear(const CpuCall& call) {
  whole_product(call, call.inputs[0].f32(), call.inputs[1], bias_of(call), unit_of(kWay),
                call.outputs[0].f32().data());
}

template <ProductWay kWay>
void qkv(const CpuCall& call) {
  const std::span<const float> y = products_of(call, unit_of(kWay));
  const size_t columns = call.inputs[1].dims[0];
  over_parts(call, call.outputs[0].dims[0], columns, [&](size_t t) {
    const float* from = y.data() + t * columns;
    for (const CpuTensor& output : call.outputs) {
      std::copy_n(from, output.dims[1], output.f32().data() + t * output.dims[1]);
      from += output.dims[1];
    }
  });
}

/// Gates of pairs, in parts that all threads take.
void gate_all(const CpuCall& call, Activation activation, std::span<const float> y,
              std::span<float> out) {
  constexpr size_t kPart = 2048;
  over_parts(call, ceil_div(out.size(), kPart), 16 * kPart, [&](size_t part) {
    const size_t first = part * kPart, count = std::min(out.size() - first, kPart);
    gate_pairs(activation, y.subspan(2 * first, 2 * count), out.subspan(first, count));
  });
}

template <ProductWay kWay>
void linear_glu(const CpuCall& call) {
  gate_all(call, call.as<LinearGlu>().activation, products_of(call, unit_of(kWay)),
           call.outputs[0].f32());
}

std::span<const float> fused_products(const CpuCall& call, const FusedLinear& op) {
  const std::vector<float> x = fused_linear_input(call);
  const CpuTensor& w = call.inputs[1];
  const std::span<float> y = products_memory(x.size() / w.dims[1] * w.dims[0]);
  whole_product(call, x, w, op.bias ? &call.inputs[2] : nullptr, nullptr, y.data());
  return y;
}

void fused_linear(const CpuCall& call) {
  const auto& op = call.as<FusedLinear>();
  const std::span<const float> y = fused_products(call, op);
  if (op.epilogue == Epilogue::kGlu) {
    return gate_all(call, op.activation, y, call.outputs[0].f32());
  }
  end_fused_linear(call, y);
}

void gated_ffn(const CpuCall& call) {
  const auto& op = call.as<GatedFfn>();
  const std::span<const float> y = fused_products(call, op.glu);
  std::vector<float> gated(y.size() / 2);
  gate_all(call, op.glu.activation, y, gated);
  const CpuTensor& d = call.inputs[op.d()];
  std::vector<float> z(gated.size() / d.dims[1] * d.dims[0]);
  whole_product(call, gated, d, nullptr, nullptr, z.data());
  end_gated_ffn(call, z);
}

constexpr KernelVariant kVariants[] = {
    tile_row<Linear>("linear.cpu.tiles", linear<ProductWay::kTiles>),
    tile_row<Qkv>("qkv.cpu.tiles", qkv<ProductWay::kTiles>),
    tile_row<LinearGlu>("linear_glu.cpu.tiles", linear_glu<ProductWay::kTiles>),
    vector_row<Linear>("linear.cpu.vectors", linear<ProductWay::kVectors>, kWordRounding),
    vector_row<Qkv>("qkv.cpu.vectors", qkv<ProductWay::kVectors>, kWordRounding),
    vector_row<LinearGlu>("linear_glu.cpu.vectors", linear_glu<ProductWay::kVectors>,
                          kWordRounding),
    vector_row<FusedLinear>("fused_linear.cpu.vectors", fused_linear, kWordRounding),
    vector_row<GatedFfn>("gated_ffn.cpu.vectors", gated_ffn, kWordRounding),
    exact_row<Linear>("linear.cpu.exact", linear<ProductWay::kVectors>),
    exact_row<Qkv>("qkv.cpu.exact", qkv<ProductWay::kVectors>),
    exact_row<LinearGlu>("linear_glu.cpu.exact", linear_glu<ProductWay::kVectors>),
    exact_row<FusedLinear>("fused_linear.cpu.exact", fused_linear),
    exact_row<GatedFfn>("gated_ffn.cpu.exact", gated_ffn),
};

}  // namespace

std::span<const KernelVariant> vector_linear_variants() {
  return kVariants;
}

}  // namespace tokamak
