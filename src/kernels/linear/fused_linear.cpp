#include "kernels/linear/fused_linear.h"

#include <algorithm>
#include <cmath>

#include "graph/fixed_point_sums.h"
#include "kernels/attention/merge_splits.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matvec.h"
#include "kernels/linear/product.h"
#include "kernels/linear/tiling.h"
#include "kernels/norm/layer_norm.h"
#include "kernels/norm/rms_norm.h"
#include "kernels/sampling/sampling.h"

namespace tokamak {
namespace {

// The reference rounds where the ops that it stands for do, so that it gives their numbers.

/// An operand, fixed-point sums or not; `own` keeps what has to be made.
std::span<const float> values_of(const CpuTensor& operand, std::vector<float>& own) {
  if (operand.dtype != DType::kI32) return operand.f32();
  const size_t columns = operand.dims[1] / 2;
  const auto* words = reinterpret_cast<const int32_t*>(operand.data);
  own.resize(operand.dims[0] * columns);
  for (size_t i = 0; i < own.size(); ++i) {
    const int32_t* high = words + i / columns * 2 * columns + i % columns;
    own[i] = float(FixedPointSum{high[0], high[columns]}.value());
  }
  return own;
}

/// Element i of row t of a row of sums becomes `value`.
void store_sum(const CpuTensor& sums, size_t t, size_t i, double value) {
  const size_t columns = sums.dims[1] / 2;
  FixedPointSum sum;
  sum.add(value);
  auto* high = reinterpret_cast<int32_t*>(sums.data) + t * 2 * columns + i;
  high[0] = sum.high;
  high[columns] = sum.low;
}

void clear(const CpuTensor& sums) {
  std::fill_n(sums.data, sizeof(int32_t) * sums.dims[0] * sums.dims[1], std::byte{});
}

/// s of norm_add and norm_add_norm, which is kept.
std::span<const float> kept_sum(const CpuCall& call) {
  const FusedLinear& op = *fused_part(*call.op);
  const size_t in = call.inputs[1].dims[1];
  const std::span<float> sum = call.outputs[1].f32();
  std::vector<float> own;
  rms_norm(values_of(call.inputs[0], own), call.inputs[op.w()].f32().first(in), op.eps, sum);
  const std::span<const float> residual = call.inputs[op.a()].f32();
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i] += residual[i];
    if (op.scaled) sum[i] *= call.inputs[op.k()].f32()[0];
  }
  return sum;
}

/// activation(value) * element i of row t of an operand, counted from op.first on.
float gating(const CpuCall& call, size_t operand, size_t t, size_t i, float value) {
  const auto& op = call.as<FusedLinear>();
  const CpuTensor& row = call.inputs[operand];
  const float other = row.f32()[t * row.dims[1] + op.first + i];
  return float(op.gated ? activate(op.activation, other) * value
                        : activate(op.activation, value) * other);
}

/// x', [T, in]; keeps s where there is one.
std::vector<float> prepared(const CpuCall& call) {
  const FusedLinear& op = *fused_part(*call.op);
  std::vector<float> own;
  const std::span<const float> x = values_of(call.inputs[0], own);
  const size_t tokens = call.inputs[0].dims[0], in = call.inputs[1].dims[1];
  std::vector<float> out(tokens * in);
  switch (op.prologue) {
    case Prologue::kNone:
      std::ranges::copy(x, out.begin());
      break;
    case Prologue::kNorm:
    case Prologue::kHeadNorm:
      rms_norm(x, call.inputs[op.w()].f32(), op.eps, out);
      break;
    case Prologue::kLayerNorm: {
      const std::span<const float> w = call.inputs[op.w()].f32();
      layer_norm(x, w.first(in), w.subspan(in), op.eps, out);
      break;
    }
    case Prologue::kNormAdd:
      std::ranges::copy(kept_sum(call), out.begin());
      break;
    case Prologue::kNormAddNorm:
      rms_norm(kept_sum(call), call.inputs[op.w()].f32().subspan(in), op.eps, out);
      break;
    case Prologue::kMergeSplits:
      for (size_t t = 0; t < tokens; ++t) {
        const size_t columns = call.inputs[0].dims[1];
        merge_splits(x.subspan(t * columns, columns), op.splits,
                     std::span(out).subspan(t * in, in));
      }
      break;
  }
  for (size_t i = 0; op.gated && i < out.size(); ++i) {
    out[i] = gating(call, op.g(), i / in, i % in, out[i]);
  }
  return out;
}

/// The first columns of y convolved, one row of the state after the other.
template <typename T>
void convolve(const CpuCall& call, std::span<const T> y) {
  const auto& op = call.as<FusedLinear>();
  const std::span<const float> w = call.inputs[op.r()].f32();
  const std::span<float> out = call.outputs[0].f32();
  const size_t n = call.inputs[op.r()].dims[0], taps = call.inputs[op.r()].dims[1];
  const size_t columns = call.outputs[0].dims[1];
  for (size_t at = 0; at < out.size(); ++at) {
    const std::span<float> rows =
        call.outputs.back().of_slot(call.batch.slot_of(at / columns).index).f32();
    if (at % columns == 0 && call.batch.position_of(at / columns) == 0) {
      std::ranges::fill(rows, 0.0f);
    }
    const size_t c = at % columns;
    out[at] = float(y[at]);
    if (c >= n) continue;
    double sum = 0;
    for (size_t j = 0; j + 1 < taps; ++j) {
      sum += double(w[c * taps + j]) * rows[j * n + c];
      rows[j * n + c] = j + 2 < taps ? rows[(j + 1) * n + c] : out[at];
    }
    sum += double(w[c * taps + taps - 1]) * out[at];
    out[at] = float(activate(op.activation, sum));
  }
}

/// Even rows are gates, odd rows what they gate.
template <typename T>
void gate(Activation activation, std::span<const T> y, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = float(activate(activation, double(y[2 * i])) * double(y[2 * i + 1]));
  }
}

/// Makes the results of the products y, [T, rows of W].
template <typename T>
void end(const CpuCall& call, std::span<const T> y) {
  const auto& op = call.as<FusedLinear>();
  if (op.clears) clear(call.outputs.back());
  const std::span<float> out = call.outputs[0].f32();
  switch (op.epilogue) {
    case Epilogue::kNone:
      std::ranges::copy(y, out.begin());
      break;
    case Epilogue::kAdd: {
      std::vector<float> own;
      const std::span<const float> residual = values_of(call.inputs[op.r()], own);
      for (size_t i = 0; i < out.size(); ++i) out[i] = residual[i] + float(y[i]);
      break;
    }
    case Epilogue::kGlu:
      gate(op.activation, y, out);
      break;
    case Epilogue::kGate: {
      const size_t columns = call.outputs[0].dims[1];
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = gating(call, op.r(), i / columns, i % columns, float(y[i]));
      }
      break;
    }
    case Epilogue::kConv:
      convolve(call, y);
      break;
    case Epilogue::kArgmax: {
      std::vector<float> capped(y.begin(), y.end());
      const double cap = op.softcap;
      for (float& value : capped) {
        if (cap > 0) value = float(cap * std::tanh(value / cap));
      }
      const size_t tokens = call.outputs[0].dims[0], rows = y.size() / tokens;
      for (size_t t = 0; t < tokens; ++t) {
        block_argmax(std::span(capped).subspan(t * rows, rows),
                     out.subspan(t * call.outputs[0].dims[1], call.outputs[0].dims[1]));
      }
      break;
    }
  }
}

}  // namespace

std::vector<float> fused_linear_input(const CpuCall& call) {
  return prepared(call);
}

void end_fused_linear(const CpuCall& call, std::span<const float> y) {
  end(call, y);
}

namespace {

/// x' Wᵀ + bias, [T, rows of W].
std::vector<double> products(const CpuCall& call) {
  const std::vector<float> x = prepared(call);
  const size_t rows = call.inputs[1].dims[0];
  std::vector<double> y(call.inputs[0].dims[0] * rows);
  product(x, call.inputs[1], fused_part(*call.op)->bias ? &call.inputs[2] : nullptr,
          [&](size_t t, size_t r, double value) { y[t * rows + r] = value; });
  return y;
}

void reference(const CpuCall& call) {
  end<double>(call, products(call));
}

/// Stores z as fixed-point sums, with x where it is added.
template <typename T>
void end_gated_ffn(const CpuCall& call, std::span<const T> z) {
  const auto& op = call.as<GatedFfn>();
  std::vector<float> own;
  const std::span<const float> x = values_of(call.inputs[0], own);
  const size_t columns = call.inputs[op.d()].dims[0];
  for (size_t i = 0; i < z.size(); ++i) {
    store_sum(call.outputs[0], i / columns, i % columns,
              (op.adds_x ? double(x[i]) : 0.0) + double(z[i]));
  }
}

}  // namespace

void end_gated_ffn(const CpuCall& call, std::span<const float> z) {
  end_gated_ffn<float>(call, z);
}

// Sums in f64; they are rounded once, as fixed-point sums.
void gated_ffn_reference(const CpuCall& call) {
  const auto& op = call.as<GatedFfn>();
  const std::vector<double> y = products(call);
  std::vector<float> gated(y.size() / 2);
  gate<double>(op.glu.activation, y, gated);
  std::vector<double> z(call.inputs[0].dims[0] * call.inputs[op.d()].dims[0]);
  const size_t columns = call.inputs[op.d()].dims[0];
  product(gated, call.inputs[op.d()], nullptr,
          [&](size_t t, size_t r, double value) { z[t * columns + r] = value; });
  end_gated_ffn<double>(call, z);
}

namespace {

std::vector<KernelVariant> make_variants() {
  std::vector<KernelVariant> all;
  add_ways<FusedLinear>(all, matvec_ways());
  all.push_back({.name = "fused_linear.cpu",
                 .op = op_index<FusedLinear>(),
                 .backend = BackendKind::kCpu,
                 .run = reference});
  return all;
}

}  // namespace

std::span<const KernelVariant> fused_linear_variants() {
  static const std::vector<KernelVariant> all = make_variants();
  return all;
}

}  // namespace tokamak
