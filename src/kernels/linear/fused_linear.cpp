#include "kernels/linear/fused_linear.h"

#include <cmath>

#include "kernels/choice/choice.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matvec.h"

namespace tokamak {
namespace {

std::vector<double> normed(std::span<const double> x, const CpuTensor& w, double eps) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1.0 / std::sqrt(squares / double(x.size()) + eps);
  std::vector<double> y(x.begin(), x.end());
  for (size_t i = 0; i < y.size(); ++i) y[i] *= scale * double(w.load(i));
  return y;
}

/// The whole attention of a row of splits, `in` columns wide; see StepAttention.
std::vector<double> merged(std::span<const float> row, size_t splits, size_t in) {
  const size_t heads = (row.size() / splits - in) / 2, head_dim = in / heads;
  std::vector<double> y(in);
  for (size_t head = 0; head < heads; ++head) {
    const auto score = [&](size_t split) {
      return row.subspan(splits * in + (split * heads + head) * 2, 2);
    };
    double largest = -HUGE_VAL, total = 0;
    for (size_t s = 0; s < splits; ++s) largest = std::max(largest, double(score(s)[0]));
    for (size_t s = 0; s < splits; ++s) {
      const double share = std::exp(double(score(s)[0]) - largest);
      total += share * double(score(s)[1]);
      for (size_t i = 0; i < head_dim; ++i) {
        y[head * head_dim + i] += share * double(row[s * in + head * head_dim + i]);
      }
    }
    for (size_t i = 0; i < head_dim; ++i) y[head * head_dim + i] /= total;
  }
  return y;
}

/// x' of token t; keeps s where there is one.
std::vector<double> prepared(const CpuCall& call, size_t t) {
  const auto& op = call.as<FusedLinear>();
  const size_t in = call.inputs[1].dims[1], columns = call.inputs[0].dims[1];
  const std::span<const float> row = call.inputs[0].f32().subspan(t * columns, columns);
  std::vector<double> x(row.begin(), row.end());
  switch (op.before) {
    case Before::kNone:
      return x;
    case Before::kNorm:
      return normed(x, call.inputs[op.w()], double(op.eps));
    case Before::kNormAddNorm:
      x = normed(x, call.inputs[op.u()], double(op.eps));
      for (size_t i = 0; i < in; ++i) {
        x[i] += double(call.inputs[op.a()].load(t * in + i));
        call.outputs[1].f32()[t * in + i] = float(x[i]);
      }
      return normed(x, call.inputs[op.w()], double(op.eps));
    case Before::kMergeSplits:
      return merged(row, op.splits, in);
  }
  return x;
}

/// What becomes of the row y of token t.
void end(const CpuCall& call, size_t t, std::span<const double> y) {
  const auto& op = call.as<FusedLinear>();
  const size_t columns = call.outputs[0].dims[1];
  const std::span<float> out = call.outputs[0].f32().subspan(t * columns, columns);
  switch (op.behind) {
    case Behind::kNone:
      std::copy(y.begin(), y.end(), out.begin());
      return;
    case Behind::kAdd:
      for (size_t i = 0; i < columns; ++i) {
        out[i] = float(y[i] + double(call.inputs[op.r()].load(t * columns + i)));
      }
      return;
    case Behind::kGlu:
      for (size_t i = 0; i < columns; ++i) {
        out[i] = float(activate(op.activation, y[2 * i]) * y[2 * i + 1]);
      }
      return;
    case Behind::kArgmax: {
      std::vector<float> capped(y.begin(), y.end());
      if (op.softcap > 0) {
        for (size_t i = 0; i < y.size(); ++i) {
          capped[i] = float(double(op.softcap) * std::tanh(y[i] / double(op.softcap)));
        }
      }
      block_argmax(capped, out);
      return;
    }
  }
}

void reference(const CpuCall& call) {
  const auto& op = call.as<FusedLinear>();
  const CpuTensor& w = call.inputs[1];
  const size_t out = w.dims[0], in = w.dims[1];
  std::vector<float> row(in);
  std::vector<double> y(out);
  for (size_t t = 0; t < call.inputs[0].dims[0]; ++t) {
    const std::vector<double> x = prepared(call, t);
    for (size_t r = 0; r < out; ++r) {
      w.load_row(r, row);
      y[r] = op.bias ? double(call.inputs[2].load(r)) : 0.0;
      for (size_t i = 0; i < in; ++i) y[r] += x[i] * double(row[i]);
    }
    end(call, t, y);
  }
}

constexpr size_t kOp = op_index<FusedLinear>();

constexpr KernelVariant kVariants[] = {
    {.name = "fused_linear.wgsl.matvec_f16_subgroup",
     .op = kOp,
     .needs = kFeatureF16 | kFeatureSubgroups,
     .refuses = matvec_f16_refuses,
     .launch = matvec_f16_subgroup},
    {.name = "fused_linear.wgsl.matvec_subgroup",
     .op = kOp,
     .needs = kFeatureSubgroups,
     .refuses = matvec_refuses,
     .launch = matvec_subgroup},
    {.name = "fused_linear.wgsl.matvec",
     .op = kOp,
     .refuses = matvec_refuses,
     .launch = matvec_tree},
    {.name = "fused_linear.cpu", .op = kOp, .backend = BackendKind::kCpu, .reference = reference},
};

}  // namespace

std::span<const KernelVariant> fused_linear_variants() {
  return kVariants;
}

}  // namespace tokamak
