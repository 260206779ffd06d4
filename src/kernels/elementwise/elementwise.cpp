#include "kernels/elementwise/elementwise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/launch.h"
#include "kernels/rows.h"

namespace tokamak {

void scale_row(const CpuCall& call, size_t t) {
  const std::span<const float> x = row_of(call.inputs[0], t);
  const std::span<float> y = row_of(call.outputs[0], t);
  const float by = call.inputs.size() == 2 ? call.inputs[1].load(0) : 1.0f;
  for (size_t c = 0; c < y.size(); ++c) y[c] = call.as<Scale>().factor * by * x[c];
}

void clamp_row(const CpuCall& call, size_t t) {
  const std::span<const float> x = row_of(call.inputs[0], t);
  const std::span<float> y = row_of(call.outputs[0], t);
  const Clamp& op = call.as<Clamp>();
  for (size_t c = 0; c < y.size(); ++c) y[c] = std::clamp(x[c], op.low, op.high);
}

void standardize_row(const CpuCall& call, size_t t) {
  const std::span<const float> x = row_of(call.inputs[0], t);
  const std::span<float> y = row_of(call.outputs[0], t);
  for (size_t c = 0; c < y.size(); ++c) {
    y[c] = (x[c] - call.inputs[1].load(c)) * call.inputs[2].load(c);
  }
}

void columns_row(const CpuCall& call, size_t t) {
  const Columns& op = call.as<Columns>();
  std::ranges::copy(row_of(call.inputs[0], t).subspan(op.first, op.count),
                    row_of(call.outputs[0], t).begin());
}

void gather_columns_row(const CpuCall& call, size_t t) {
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<const uint32_t> order = call.inputs[1].u32();
  const std::span<float> y = call.outputs[0].f32();
  for (size_t first = t * call.outputs[0].dims[1]; first < (t + 1) * call.outputs[0].dims[1];
       first += order.size()) {
    for (size_t c = 0; c < order.size(); ++c) y[first + c] = x[first + order[c]];
  }
}

namespace {

void add_reference(const CpuCall& call) {
  const std::span<const float> a = call.inputs[0].f32(), b = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  for (size_t i = 0; i < y.size(); ++i) y[i] = a[i] + b[i];
}

void softcap_reference(const CpuCall& call) {
  const double cap = call.as<Softcap>().cap;
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  for (size_t i = 0; i < y.size(); ++i) y[i] = float(cap * std::tanh(x[i] / cap));
}

void activate_reference(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = float(activate(call.as<Activate>().activation, x[i]));
  }
}

void glu_reference(const CpuCall& call) {
  const std::span<const float> gate = call.inputs[0].f32(), up = call.inputs[1].f32();
  const std::span<float> y = call.outputs[0].f32();
  const Glu& op = call.as<Glu>();
  const size_t columns = call.outputs[0].dims[1], up_columns = call.inputs[1].dims[1];
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t other = i / columns * up_columns + op.first + i % columns;
    y[i] = float(activate(op.activation, gate[i]) * up[other]);
  }
}

/// Copies row `row_of(i)` to row i of the output.
void copy_rows(const CpuCall& call, auto&& row_of) {
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t columns = call.inputs[0].dims[1];
  for (size_t i = 0; i < call.outputs[0].dims[0]; ++i) {
    std::ranges::copy(x.subspan(row_of(i) * columns, columns),
                      y.begin() + std::ptrdiff_t(i * columns));
  }
}

void last_row_reference(const CpuCall& call) {
  copy_rows(call, [&](size_t i) { return call.batch.output_row(i); });
}

void first_row_reference(const CpuCall& call) {
  copy_rows(call, [&](size_t i) { return call.batch.slot(i).start; });
}

void mean_rows_reference(const CpuCall& call) {
  const std::span<const float> x = call.inputs[0].f32();
  const std::span<float> y = call.outputs[0].f32();
  const size_t columns = call.inputs[0].dims[1];
  for (uint32_t s = 0; s < call.batch.slots(); ++s) {
    const Slot& slot = call.batch.slot(s);
    for (size_t i = 0; i < columns; ++i) {
      double sum = 0;
      for (size_t t = 0; t < slot.count; ++t) sum += x[(slot.start + t) * columns + i];
      y[s * columns + i] = float(sum / slot.count);
    }
  }
}

Launch map_launch(const Problem& problem, std::vector<std::string> sources,
                  std::vector<Constant> constants = {}) {
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  const bool per_token = problem.outputs[0].shape[0] == kTokens;
  constants.insert(constants.end(), {{"THREADS", kMapThreads}, {"COLUMNS", columns}});
  sources.insert(sources.end(), {"elementwise/map.wgsl", "wgsl/entry.wgsl"});
  return {.constants = std::move(constants),
          .sources = std::move(sources),
          .grid = {.x = {ceil_div(columns, kMapThreads)}, .y = {1, per_token ? 1u : 0u}}};
}

Launch add_launch(const Problem& p, const DeviceInfo&) {
  return map_launch(p, {"elementwise/add.wgsl"});
}
Launch scale_launch(const Problem& p, const DeviceInfo&) {
  return map_launch(p,
                    {p.inputs.size() == 2 ? "elementwise/scale_by.wgsl" : "elementwise/scale.wgsl"},
                    {{"FACTOR", p.as<Scale>().factor}});
}
Launch softcap_launch(const Problem& p, const DeviceInfo&) {
  return map_launch(p, {"elementwise/softcap.wgsl"}, {{"CAP", p.as<Softcap>().cap}});
}
Launch activate_launch(const Problem& p, const DeviceInfo&) {
  return map_launch(p, {kActivationSource, "elementwise/activation.wgsl"},
                    {activation_constant(p.as<Activate>().activation)});
}
Launch glu_launch(const Problem& p, const DeviceInfo&) {
  const Glu& op = p.as<Glu>();
  return map_launch(p, {kActivationSource, "elementwise/glu.wgsl"},
                    {activation_constant(op.activation),
                     {"UP_COLUMNS", uint32_t(p.inputs[1].shape[1])},
                     {"FIRST", op.first}});
}
Launch clamp_launch(const Problem& p, const DeviceInfo&) {
  const Clamp& op = p.as<Clamp>();
  return map_launch(p, {"elementwise/clamp.wgsl"}, {{"LOW", op.low}, {"HIGH", op.high}});
}
Launch standardize_launch(const Problem& p, const DeviceInfo&) {
  return map_launch(p, {"elementwise/standardize.wgsl"});
}
Launch columns_launch(const Problem& p, const DeviceInfo&) {
  return map_launch(
      p, {"elementwise/columns.wgsl"},
      {{"X_COLUMNS", uint32_t(p.inputs[0].shape[1])}, {"FIRST", p.as<Columns>().first}});
}
Launch last_row_launch(const Problem& p, const DeviceInfo&) {
  return map_launch(p, {"elementwise/last_row.wgsl"});
}
Launch first_row_launch(const Problem& p, const DeviceInfo&) {
  return map_launch(p, {"elementwise/first_row.wgsl"});
}
Launch gather_columns_launch(const Problem& p, const DeviceInfo&) {
  return map_launch(p, {"elementwise/gather_columns.wgsl"});
}

/// A workgroup sums a strip of columns, several rows at a time.
Launch mean_rows_launch(const Problem& problem, const DeviceInfo&) {
  constexpr uint32_t kStrip = 16, kThreads = 256;
  const uint32_t columns = uint32_t(problem.outputs[0].shape[1]);
  return {.constants = {{"THREADS", kThreads}, {"STRIP", kStrip}, {"COLUMNS", columns}},
          .sources = {"elementwise/mean_rows.wgsl", "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(columns, kStrip)}, .y = {1, 0, true}}};
}

constexpr KernelVariant kElementwiseVariants[] = {
    {.name = "add.wgsl", .op = op_index<Add>(), .launch = add_launch},
    {.name = "add.cpu", .op = op_index<Add>(), .backend = BackendKind::kCpu, .run = add_reference},
    {.name = "scale.wgsl", .op = op_index<Scale>(), .launch = scale_launch},
    {.name = "scale.cpu",
     .op = op_index<Scale>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<scale_row>},
    {.name = "softcap.wgsl", .op = op_index<Softcap>(), .launch = softcap_launch},
    {.name = "softcap.cpu",
     .op = op_index<Softcap>(),
     .backend = BackendKind::kCpu,
     .run = softcap_reference},
    {.name = "activate.wgsl", .op = op_index<Activate>(), .launch = activate_launch},
    {.name = "activate.cpu",
     .op = op_index<Activate>(),
     .backend = BackendKind::kCpu,
     .run = activate_reference},
    {.name = "clamp.wgsl", .op = op_index<Clamp>(), .launch = clamp_launch},
    {.name = "clamp.cpu",
     .op = op_index<Clamp>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<clamp_row>},
    {.name = "standardize.wgsl", .op = op_index<Standardize>(), .launch = standardize_launch},
    {.name = "standardize.cpu",
     .op = op_index<Standardize>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<standardize_row>},
    {.name = "glu.wgsl", .op = op_index<Glu>(), .launch = glu_launch},
    {.name = "glu.cpu", .op = op_index<Glu>(), .backend = BackendKind::kCpu, .run = glu_reference},
    {.name = "columns.wgsl", .op = op_index<Columns>(), .launch = columns_launch},
    {.name = "columns.cpu",
     .op = op_index<Columns>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<columns_row>},
    {.name = "mean_rows.wgsl", .op = op_index<MeanRows>(), .launch = mean_rows_launch},
    {.name = "mean_rows.cpu",
     .op = op_index<MeanRows>(),
     .backend = BackendKind::kCpu,
     .run = mean_rows_reference},
    {.name = "last_row.wgsl", .op = op_index<LastRow>(), .launch = last_row_launch},
    {.name = "last_row.cpu",
     .op = op_index<LastRow>(),
     .backend = BackendKind::kCpu,
     .run = last_row_reference},
    {.name = "first_row.wgsl", .op = op_index<FirstRow>(), .launch = first_row_launch},
    {.name = "first_row.cpu",
     .op = op_index<FirstRow>(),
     .backend = BackendKind::kCpu,
     .run = first_row_reference},
    {.name = "gather_columns.wgsl",
     .op = op_index<GatherColumns>(),
     .launch = gather_columns_launch},
    {.name = "gather_columns.cpu",
     .op = op_index<GatherColumns>(),
     .backend = BackendKind::kCpu,
     .run = row_by_row<gather_columns_row>},
};

}  // namespace

std::span<const KernelVariant> elementwise_variants() {
  return kElementwiseVariants;
}

double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
    case Activation::kGeluTanh: {
      constexpr double kSqrt2OverPi = 0.79788456080286535588;
      return 0.5 * x * (1.0 + std::tanh(kSqrt2OverPi * (x + 0.044715 * x * x * x)));
    }
    case Activation::kSigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case Activation::kGeluErf:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kReluSquared:
      return std::max(x, 0.0) * std::max(x, 0.0);
    case Activation::kElu:
      return x > 0 ? x : std::expm1(x);
    case Activation::kGeluQuick:
      return x / (1.0 + std::exp(-1.702 * x));
    case Activation::kIdentity:
      break;
  }
  return x;
}

Constant activation_constant(Activation activation) {
  static_assert(uint32_t(Activation::kSilu) == 0 && uint32_t(Activation::kGeluTanh) == 1 &&
                uint32_t(Activation::kSigmoid) == 2 && uint32_t(Activation::kGeluErf) == 4 &&
                uint32_t(Activation::kTanh) == 5 && uint32_t(Activation::kRelu) == 6 &&
                uint32_t(Activation::kReluSquared) == 7 && uint32_t(Activation::kElu) == 8 &&
                uint32_t(Activation::kGeluQuick) == 9);  // as activate.wgsl has them
  return {"ACTIVATION", uint32_t(activation)};
}

}  // namespace tokamak
