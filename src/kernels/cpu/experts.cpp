// Rows of the variant tables for mixtures of experts: the products of each expert with the slots
// that chose it are a part of one multiply().
#include "kernels/experts/experts.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "kernels/cpu/arrays.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/states.h"
#include "kernels/cpu/tile_variants.h"
#include "kernels/cpu/variants.h"

namespace tokamak {
namespace {

/// Which slots each expert has.
class ExpertSlots {
 public:
  ExpertSlots(std::span<const uint32_t> chosen, size_t experts, size_t slots_of_row)
      : slots_(experts), rows_(experts) {
    for (size_t slot = 0; slot < chosen.size(); ++slot) {
      TOK_CHECK(chosen[slot] < experts);
      slots_[chosen[slot]].push_back(uint32_t(slot));
      rows_[chosen[slot]].push_back(uint32_t(slot / slots_of_row));
    }
  }

  /// y [slots, out] of x, of which each slot has a row of its own or slots_of_row share one.
  void multiply(const CpuCall& call, std::span<const float> x, const CpuTensor& w,
                const float* bias, ProductWay way, float* y) const {
    const size_t out = w.dims[0] / slots_.size();
    std::vector<PartProduct> parts;
    for (size_t e = 0; e < slots_.size(); ++e) {
      if (slots_[e].empty()) continue;
      parts.push_back({.first = e * out,
                       .count = out,
                       .x_rows = rows_[e],
                       .y_rows = slots_[e],
                       .y = y,
                       .y_stride = out});
    }
    tokamak::multiply(*call.pool, x, w, bias, parts, unit_of(way));
  }

 private:
  std::vector<std::vector<uint32_t>> slots_, rows_;
};

template <ProductWay kWay>
void expert_linear(const CpuCall& call) {
  const CpuTensor& w = call.inputs[1];
  const std::span<const uint32_t> chosen = call.inputs[2].u32();
  const size_t shared = call.inputs[2].dims[1] / (call.inputs[0].dims[1] / w.dims[1]);
  ExpertSlots(chosen, call.as<ExpertLinear>().experts, shared)
      .multiply(call, call.inputs[0].f32(), w,
                call.inputs.size() == 4 ? call.inputs[3].f32().data() : nullptr, kWay,
                call.outputs[0].f32().data());
}

/// gpt-oss's gate; see ExpertGlu. `gate` and `up` change.
void limited_gate(float limit, std::span<float> gate, std::span<float> up, std::span<float> y) {
  for (size_t i = 0; i < gate.size(); ++i) {
    gate[i] = std::min(gate[i], limit);
    up[i] = std::clamp(up[i], -limit, limit) + 1;
    y[i] = 1.702f * gate[i];
  }
  gate_arrays(Activation::kSigmoid, y, gate, y);
  for (size_t i = 0; i < y.size(); ++i) y[i] *= up[i];
}

template <ProductWay kWay>
void expert_glu(const CpuCall& call) {
  const auto& op = call.as<ExpertGlu>();
  const CpuTensor& w = call.inputs[1];
  const std::span<const uint32_t> chosen = call.inputs[2].u32();
  const std::span<const float> given = call.inputs[0].f32();
  const size_t in = w.dims[1], n = w.dims[0] / op.experts / 2;
  std::vector<float> normed(op.norm ? given.size() : 0);
  over_parts(call, op.norm ? given.size() / in : 0, in, [&](size_t t) {
    norm_array(given.subspan(t * in, in), call.inputs[3].f32(), op.eps,
               std::span(normed).subspan(t * in, in));
  });
  std::vector<float> y(chosen.size() * 2 * n);
  const float* const bias = op.bias ? call.inputs[op.norm ? 4 : 3].f32().data() : nullptr;
  ExpertSlots(chosen, op.experts, call.inputs[2].dims[1])
      .multiply(call, op.norm ? std::span<const float>(normed) : given, w, bias, kWay, y.data());
  const std::span<float> out = call.outputs[0].f32();
  over_parts(call, chosen.size(), 16 * n, [&](size_t slot) {
    const std::span<float> row = std::span(y).subspan(slot * 2 * n, 2 * n);
    if (op.limit > 0) {
      limited_gate(op.limit, row.first(n), row.last(n), out.subspan(slot * n, n));
    } else {
      gate_arrays(op.activation, row.first(n), row.last(n), out.subspan(slot * n, n));
    }
  });
}

void expert_mix(const CpuCall& call) {
  const CpuTensor& w = call.inputs[1];
  const auto& op = call.as<ExpertMix>();
  const size_t added = op.bias ? 5 : 4;
  const std::span<const float> shares = call.inputs[3].f32();
  const std::span<const uint32_t> chosen = call.inputs[2].u32();
  const size_t top_k = call.inputs[2].dims[1], out = w.dims[0] / op.experts;
  std::vector<float> own(chosen.size() * out);
  ExpertSlots(chosen, op.experts, 1)
      .multiply(call, call.inputs[0].f32(), w, op.bias ? call.inputs[4].f32().data() : nullptr,
                ProductWay::kVectors, own.data());
  const std::span<float> y = call.outputs[0].f32();
  over_parts(call, chosen.size() / top_k, top_k * out, [&](size_t t) {
    for (size_t i = 0; i < out; ++i) {
      float sum = 0;
      for (size_t slot = t * top_k; slot < (t + 1) * top_k; ++slot) {
        sum += shares[slot] * own[slot * out + i];
      }
      const bool adds = call.inputs.size() > added;
      y[t * out + i] = adds ? sum + call.inputs[added].f32()[t * out + i] : sum;
    }
  });
}

void expert_sum(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32(), shares = call.inputs[1].f32();
  const size_t top_k = call.inputs[1].dims[1], n = call.outputs[0].dims[1];
  over_parts(call, call.outputs[0].dims[0], top_k * n, [&](size_t t) {
    const std::span<float> y = row_of(call.outputs[0], t);
    std::ranges::fill(y, 0.0f);
    for (size_t slot = t * top_k; slot < (t + 1) * top_k; ++slot) {
      add_scaled(x.subspan(slot * n, n), shares[slot], y);
    }
  });
}

constexpr KernelVariant kVariants[] = {
    vector_row<Route>("route.cpu.threads", in_rows<route_row, 2048>),
    vector_row<ExpertSum>("expert_sum.cpu.vectors", expert_sum),
    vector_row<ExpertColumns>("expert_columns.cpu.threads", in_rows<expert_columns_row>),
    tile_row<ExpertLinear>("expert_linear.cpu.tiles", expert_linear<ProductWay::kTiles>),
    tile_row<ExpertGlu>("expert_glu.cpu.tiles", expert_glu<ProductWay::kTiles>),
    vector_row<ExpertLinear>("expert_linear.cpu.vectors", expert_linear<ProductWay::kVectors>,
                             kWordRounding),
    vector_row<ExpertGlu>("expert_glu.cpu.vectors", expert_glu<ProductWay::kVectors>,
                          kWordRounding),
    vector_row<ExpertMix>("expert_mix.cpu.vectors", expert_mix, kWordRounding),
    exact_row<ExpertLinear>("expert_linear.cpu.exact", expert_linear<ProductWay::kVectors>),
    exact_row<ExpertGlu>("expert_glu.cpu.exact", expert_glu<ProductWay::kVectors>),
    exact_row<ExpertMix>("expert_mix.cpu.exact", expert_mix),
};

}  // namespace

std::span<const KernelVariant> vector_expert_variants() {
  return kVariants;
}

}  // namespace tokamak
