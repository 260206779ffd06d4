// Rows of the variant tables for what is computed row by row: norms and activations.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/cpu/arrays.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/variants.h"
#include "kernels/embed/embed.h"
#include "kernels/library/library.h"

namespace tokamak {
namespace {

/// Elements of an array that a thread takes at once.
constexpr size_t kPart = 4096;

/// Calls body(first, count) for parts of an array.
template <typename Body>
void over_array(const CpuCall& call, size_t size, size_t each, const Body& body) {
  over_parts(call, (size + kPart - 1) / kPart, each * kPart,
             [&](size_t part) { body(part * kPart, std::min(size - part * kPart, kPart)); });
}

void rms_norm(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32(), w = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = w.size();
  over_parts(call, x.size() / n, n, [&](size_t i) {
    norm_array(x.subspan(i * n, n), w, call.as<RmsNorm>().eps, y.subspan(i * n, n));
  });
}

void add_rms_norm(const CpuCall& call) {
  const auto& op = call.as<AddRmsNorm>();
  const std::span<const float> a = call.inputs[0].f32(), b = call.inputs[1].f32();
  const std::span<float> sum = call.outputs[0].f32(), y = call.outputs[1].f32();
  const size_t n = call.inputs[2].dims[0];
  over_parts(call, sum.size() / n, (2 + op.parts) * n, [&](size_t t) {
    const std::span<float> own = sum.subspan(t * n, n);
    add_arrays(a.subspan(t * op.parts * n, n), b.subspan(t * n, n), own);
    for (size_t p = 1; p < op.parts; ++p) {
      add_arrays(a.subspan((t * op.parts + p) * n, n), own, own);
    }
    norm_array(own, call.inputs[2].f32(), op.eps, y.subspan(t * n, n));
  });
}

void norm_add(const CpuCall& call) {
  const auto& op = call.as<NormAdd>();
  const std::span<const float> x = call.inputs[0].f32(), a = call.inputs[1].f32();
  const std::span<const float> w = call.inputs[2].f32();
  const std::span<float> sum = call.outputs.back().f32();
  const size_t n = w.size();
  const float factor = op.factor * (op.scaled ? call.inputs[3].f32()[0] : 1.0f);
  over_parts(call, x.size() / n, 3 * n, [&](size_t t) {
    const std::span<float> own = sum.subspan(t * n, n);
    std::vector<float> normed(n);
    norm_array(x.subspan(t * n, n), w, op.eps, normed);
    for (size_t i = 0; i < n; ++i) own[i] = (a[t * n + i] + normed[i]) * factor;
    if (!op.normed) return;
    norm_array(own, call.inputs.back().f32(), op.eps, call.outputs[0].f32().subspan(t * n, n));
  });
}

/// One group by a norm with a mean.
void center_array(std::span<const float> x, std::span<const float> w, std::span<const float> bias,
                  float eps, std::span<float> y) {
  const double count = double(w.size());
  const auto mean = float(sum_array(x) / count);
  const double variance = sum_squares(x, mean) / count;
  scale_distances(x, mean, float(1 / std::sqrt(variance + double(eps))), w, bias, y);
}

void layer_norm(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32(), w = call.inputs[1].f32();
  const std::span<const float> bias =
      call.inputs.size() == 3 ? call.inputs[2].f32() : std::span<float>();
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = w.size();
  over_parts(call, x.size() / n, 2 * n, [&](size_t i) {
    center_array(x.subspan(i * n, n), w, bias, call.as<LayerNorm>().eps, y.subspan(i * n, n));
  });
}

void fused_norm(const CpuCall& call) {
  const auto& op = call.as<FusedNorm>();
  const std::span<const float> given = call.inputs[0].f32();
  const std::span<const float> w = call.inputs[op.weight()].f32();
  const bool has_bias = call.inputs.size() > op.weight() + 1;
  const std::span<const float> bias = has_bias ? call.inputs.back().f32() : std::span<float>();
  const std::span<float> y = call.outputs[0].f32();
  const size_t n = w.size();
  over_parts(call, given.size() / n, 4 * n, [&](size_t i) {
    std::span<const float> x = given.subspan(i * n, n);
    std::vector<float> sum(op.adds ? n : 0);
    if (op.adds) {
      add_arrays(x, call.inputs[1].f32().subspan(i * n, n), sum);
      x = sum;
    }
    if (op.summed) std::ranges::copy(x, call.outputs[1].f32().subspan(i * n).begin());
    const std::span<float> own = y.subspan(i * n, n);
    op.centered ? center_array(x, w, bias, op.eps, own) : norm_array(x, w, op.eps, own);
  });
}

/// The sum of value(row) over the rows of a slot, which are added in order.
template <typename Value>
double sum_of_rows(const CpuCall& call, const Slot& slot, const Value& value) {
  std::vector<double> sums(slot.count);
  over_parts(call, slot.count, 2 * call.inputs[0].dims[1],
             [&](size_t i) { sums[i] = value(row_of(call.inputs[0], slot.start + i)); });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void group_norm(const CpuCall& call) {
  const std::span<const float> w = call.inputs[1].f32(), bias = call.inputs[2].f32();
  for (uint32_t s = 0; s < call.batch.slots(); ++s) {
    const Slot& slot = call.batch.slot(s);
    const double count = double(slot.count) * double(w.size());
    const auto mean = float(sum_of_rows(call, slot, sum_array) / count);
    const double variance =
        sum_of_rows(call, slot, [&](auto row) { return sum_squares(row, mean); }) / count;
    const auto scale = float(1 / std::sqrt(variance + double(call.as<GroupNorm>().eps)));
    over_parts(call, slot.count, 2 * w.size(), [&](size_t i) {
      const size_t t = slot.start + i;
      scale_distances(row_of(call.inputs[0], t), mean, scale, w, bias, row_of(call.outputs[0], t));
    });
  }
}

void add(const CpuCall& call) {
  const std::span<const float> a = call.inputs[0].f32(), b = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  over_array(call, y.size(), 1, [&](size_t first, size_t count) {
    add_arrays(a.subspan(first, count), b.subspan(first, count), y.subspan(first, count));
  });
}

void glu(const CpuCall& call) {
  const auto& op = call.as<Glu>();
  const std::span<const float> gate = call.inputs[0].f32(), up = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t columns = call.outputs[0].dims[1], up_columns = call.inputs[1].dims[1];
  over_parts(call, y.size() / columns, 16 * columns, [&](size_t t) {
    gate_arrays(op.activation, gate.subspan(t * columns, columns),
                up.subspan(t * up_columns + op.first, columns), y.subspan(t * columns, columns));
  });
}

void activate(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  over_array(call, y.size(), 16, [&](size_t first, size_t count) {
    activate_array(call.as<Activate>().activation, x.subspan(first, count),
                   y.subspan(first, count));
  });
}

void softcap(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  over_array(call, y.size(), 16, [&](size_t first, size_t count) {
    cap_array(call.as<Softcap>().cap, x.subspan(first, count), y.subspan(first, count));
  });
}

void embed(const CpuCall& call) {
  const size_t columns = call.outputs[0].dims[1];
  over_parts(call, call.outputs[0].dims[0], 16 * columns, [&](size_t t) { embed_token(call, t); });
}

constexpr KernelVariant kVariants[] = {
    vector_row<Embed>("embed.cpu.vectors", embed),
    vector_row<RmsNorm>("rms_norm.cpu.vectors", rms_norm),
    vector_row<AddRmsNorm>("add_rms_norm.cpu.vectors", add_rms_norm),
    vector_row<LayerNorm>("layer_norm.cpu.vectors", layer_norm),
    with_refusal(vector_row<FusedNorm>("fused_norm.cpu.vectors", fused_norm),
                 rounding_refuses<FusedNorm, false>),
    vector_row<GroupNorm>("group_norm.cpu.vectors", group_norm),
    with_refusal(vector_row<NormAdd>("norm_add.cpu.vectors", norm_add),
                 rounding_refuses<NormAdd, false>),
    vector_row<Add>("add.cpu.vectors", add),
    vector_row<Glu>("glu.cpu.vectors", glu),
    vector_row<Activate>("activate.cpu.vectors", activate),
    vector_row<Softcap>("softcap.cpu.vectors", softcap),
};

}  // namespace

std::span<const KernelVariant> vector_row_variants() {
  return kVariants;
}

}  // namespace tokamak
