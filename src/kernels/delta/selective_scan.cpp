#include "kernels/delta/selective_scan.h"

#include <cmath>

#include "kernels/delta/recurrence.h"

namespace tokamak {
namespace {

/// One token of one head. s: [n, p], y: [p].
void scan_step(std::span<const float> x, std::span<const float> b, std::span<const float> c,
               double decay, double delta, double skip, std::span<float> s, std::span<float> y) {
  const size_t n = b.size(), p = x.size();
  for (size_t column = 0; column < p; ++column) {
    double sum = skip * x[column];
    for (size_t r = 0; r < n; ++r) {
      float& kept = s[r * p + column];
      const double next = decay * kept + b[r] * (delta * x[column]);
      kept = float(next);
      sum += c[r] * next;
    }
    y[column] = float(sum);
  }
}

void selective_scan_reference(const CpuCall& call) {
  const std::span<const float> xbc = call.inputs[0].f32(), dt = call.inputs[1].f32();
  const std::span<const float> params = call.inputs[2].f32();
  const std::span<float> y = call.outputs[0].f32();
  const std::vector<uint32_t>& dims = call.outputs[1].dims;
  const size_t heads = dims[0], n = dims[1], p = dims[2], width = call.inputs[0].dims[1];
  const size_t dt_width = call.inputs[1].dims[1], dt_first = dt_width - heads;
  const auto& op = call.as<SelectiveScan>();
  const size_t groups = op.groups;
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    const std::span<float> state = call.outputs[1].of_slot(call.batch.slot_of(t).index).f32();
    if (call.batch.position_of(t) == 0) std::ranges::fill(state, 0.0f);
    const std::span<const float> row = xbc.subspan(t * width, width);
    for (size_t h = 0; h < heads; ++h) {
      const size_t first = heads * p + h / (heads / groups) * n;
      const double step = double(op.dt_factor) * dt[t * dt_width + dt_first + h];
      double delta = std::max(softplus(step + double(params[heads + h])), double(op.low));
      if (op.high > 0) delta = std::min(delta, double(op.high));
      const double rate = op.negated ? -double(params[h]) : std::exp(double(params[h]));
      scan_step(row.subspan(h * p, p), row.subspan(first, n), row.subspan(first + groups * n, n),
                std::exp(-rate * delta), delta, params[2 * heads + h],
                state.subspan(h * n * p, n * p), y.subspan((t * heads + h) * p, p));
    }
  }
}

Launch selective_scan_launch(const Problem& p, const DeviceInfo&) {
  const auto& op = p.as<SelectiveScan>();
  return recurrence_launch(p, "selective_scan",
                           {{"GROUPS", op.groups},
                            {"NEGATED", uint32_t{op.negated}},
                            {"DT_FACTOR", op.dt_factor},
                            {"LOW", op.low},
                            {"HIGH", op.high}});
}

constexpr KernelVariant kSelectiveScanVariants[] = {
    {.name = "selective_scan.wgsl",
     .op = op_index<SelectiveScan>(),
     .refuses = recurrence_refuses,
     .launch = selective_scan_launch},
    {.name = "selective_scan.cpu",
     .op = op_index<SelectiveScan>(),
     .backend = BackendKind::kCpu,
     .run = selective_scan_reference},
};

}  // namespace

std::span<const KernelVariant> selective_scan_variants() {
  return kSelectiveScanVariants;
}

}  // namespace tokamak
