#include "kernels/linear/fused_linear.h"

#include <algorithm>
#include <cmath>

#include "kernels/choice/choice.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matvec.h"
#include "kernels/linear/product.h"
#include "kernels/norm/rms_norm.h"

namespace tokamak {
namespace {

// The reference rounds where the ops that it stands for do, so that it gives their numbers.

/// The whole attention of a row of splits, y.size() columns wide; see StepAttention.
void merge(std::span<const float> row, size_t splits, std::span<float> y) {
  const size_t in = y.size(), heads = (row.size() / splits - in) / 2, head_dim = in / heads;
  std::vector<double> sums(head_dim);
  for (size_t head = 0; head < heads; ++head) {
    const auto score = [&](size_t split) {
      return row.subspan(splits * in + (split * heads + head) * 2, 2);
    };
    double largest = -HUGE_VAL, total = 0;
    for (size_t s = 0; s < splits; ++s) largest = std::max(largest, double(score(s)[0]));
    std::ranges::fill(sums, 0.0);
    for (size_t s = 0; s < splits; ++s) {
      const double share = std::exp(double(score(s)[0]) - largest);
      total += share * double(score(s)[1]);
      for (size_t i = 0; i < head_dim; ++i) {
        sums[i] += share * double(row[s * in + head * head_dim + i]);
      }
    }
    for (size_t i = 0; i < head_dim; ++i) y[head * head_dim + i] = float(sums[i] / total);
  }
}

/// x', [T, in]; keeps s where there is one.
std::vector<float> prepared(const CpuCall& call) {
  const auto& op = call.as<FusedLinear>();
  const std::span<const float> x = call.inputs[0].f32();
  const size_t tokens = call.inputs[0].dims[0], in = call.inputs[1].dims[1];
  std::vector<float> out(tokens * in);
  switch (op.before) {
    case Before::kNone:
      std::ranges::copy(x, out.begin());
      break;
    case Before::kNorm:
      rms_norm(x, call.inputs[op.w()].f32(), op.eps, out);
      break;
    case Before::kNormAddNorm: {
      const std::span<float> sum = call.outputs[1].f32();
      rms_norm(x, call.inputs[op.u()].f32(), op.eps, sum);
      const std::span<const float> residual = call.inputs[op.a()].f32();
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += residual[i];
      rms_norm(sum, call.inputs[op.w()].f32(), op.eps, out);
      break;
    }
    case Before::kMergeSplits:
      for (size_t t = 0; t < tokens; ++t) {
        const size_t columns = call.inputs[0].dims[1];
        merge(x.subspan(t * columns, columns), op.splits, std::span(out).subspan(t * in, in));
      }
      break;
  }
  return out;
}

/// What becomes of the products y, [T, rows of W].
void end(const CpuCall& call, std::span<const double> y) {
  const auto& op = call.as<FusedLinear>();
  const std::span<float> out = call.outputs[0].f32();
  switch (op.behind) {
    case Behind::kNone:
      std::ranges::copy(y, out.begin());
      break;
    case Behind::kAdd: {
      const std::span<const float> residual = call.inputs[op.r()].f32();
      for (size_t i = 0; i < out.size(); ++i) out[i] = residual[i] + float(y[i]);
      break;
    }
    case Behind::kGlu:
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = float(activate(op.activation, y[2 * i]) * y[2 * i + 1]);
      }
      break;
    case Behind::kArgmax: {
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

void reference(const CpuCall& call) {
  const std::vector<float> x = prepared(call);
  const size_t rows = call.inputs[1].dims[0];
  std::vector<double> y(call.inputs[0].dims[0] * rows);
  product(x, call.inputs[1], call.as<FusedLinear>().bias ? &call.inputs[2] : nullptr,
          [&](size_t t, size_t r, double value) { y[t * rows + r] = value; });
  end(call, y);
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
