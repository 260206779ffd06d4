#include "kernels/delta/selective_scan.h"

#include <cmath>

#include "kernels/delta/chunks.h"
#include "kernels/delta/recurrence.h"

namespace tokamak {
namespace {

/// s: [n, p].
void run_step(const ScanStep& step, std::span<float> s) {
  const size_t n = step.b.size(), p = step.x.size();
  for (size_t column = 0; column < p; ++column) {
    double sum = double(step.skip) * step.x[column];
    for (size_t r = 0; r < n; ++r) {
      float& kept = s[r * p + column];
      const double next = step.decay * kept + step.b[r] * (step.delta * step.x[column]);
      kept = float(next);
      sum += step.c[r] * next;
    }
    step.y[column] = float(sum);
  }
}

void selective_scan_reference(const CpuCall& call) {
  const std::vector<uint32_t>& dims = call.outputs[1].dims;
  const size_t heads = dims[0], size = size_t{dims[1]} * dims[2];
  for (size_t t = 0; t < call.batch.rows(); ++t) {
    const std::span<float> state = call.outputs[1].of_slot(call.batch.slot_of(t).index).f32();
    if (call.batch.position_of(t) == 0) std::ranges::fill(state, 0.0f);
    for (size_t h = 0; h < heads; ++h) {
      run_step(scan_step_of(call, t, h), state.subspan(h * size, size));
    }
  }
}

std::vector<Constant> scan_constants(const Problem& p) {
  const auto& op = p.as<SelectiveScan>();
  return {{"GROUPS", op.groups},
          {"NEGATED", uint32_t{op.negated}},
          {"DT_FACTOR", op.dt_factor},
          {"LOW", op.low},
          {"HIGH", op.high}};
}

Launch selective_scan_launch(const Problem& p, const DeviceInfo&) {
  return recurrence_launch(p, "selective_scan", scan_constants(p));
}

Launch selective_scan_chunks_launch(const Problem& p, const DeviceInfo&) {
  return chunks_launch(p, "selective_scan", scan_constants(p));
}

constexpr KernelVariant kSelectiveScanVariants[] = {
    {.name = "selective_scan.wgsl.chunks",
     .op = op_index<SelectiveScan>(),
     .needs = kFragmentFeatures,
     .refuses = chunks_refuse,
     .launch = selective_scan_chunks_launch,
     .rounding = kF16Rounding},
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

ScanStep scan_step_of(const CpuCall& call, size_t t, size_t head) {
  const auto& op = call.as<SelectiveScan>();
  const std::span<const float> params = call.inputs[2].f32();
  const std::vector<uint32_t>& dims = call.outputs[1].dims;
  const size_t heads = dims[0], n = dims[1], p = dims[2];
  const size_t width = call.inputs[0].dims[1], dt_width = call.inputs[1].dims[1];
  const std::span<const float> row = call.inputs[0].f32().subspan(t * width, width);
  const size_t first = heads * p + head / (heads / op.groups) * n;
  const double dt = double(op.dt_factor) * call.inputs[1].f32()[(t + 1) * dt_width - heads + head];
  ScanStep step{.x = row.subspan(head * p, p),
                .b = row.subspan(first, n),
                .c = row.subspan(first + op.groups * n, n),
                .skip = params[2 * heads + head],
                .y = call.outputs[0].f32().subspan((t * heads + head) * p, p)};
  step.delta = std::max(softplus(dt + double(params[heads + head])), double(op.low));
  if (op.high > 0) step.delta = std::min(step.delta, double(op.high));
  const double rate = op.negated ? -double(params[head]) : std::exp(double(params[head]));
  step.decay = std::exp(-rate * step.delta);
  return step;
}

std::span<const KernelVariant> selective_scan_variants() {
  return kSelectiveScanVariants;
}

}  // namespace tokamak
