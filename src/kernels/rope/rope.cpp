#include "kernels/rope/rope.h"

#include "kernels/launch.h"

namespace tokamak {

void rotate(std::span<float> head, std::span<const float> angles) {
  const size_t half = angles.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    const float a = head[i], b = head[i + half];
    head[i] = a * angles[i] - b * angles[half + i];
    head[i + half] = b * angles[i] + a * angles[half + i];
  }
}

std::span<const float> angles_of(const CpuTensor& table, const BatchView& batch, size_t short_rows,
                                 size_t row) {
  const Slot& slot = batch.slot_of(row);
  const size_t first = slot.length > short_rows ? short_rows : 0;
  const uint32_t angle = batch.position_of(row) + slot.rotary_shift;
  return table.f32().subspan((first + angle) * table.dims[1], table.dims[1]);
}

namespace {

/// Rotates the heads of each row by `angles` of it.
template <typename Angles>
void rotate_heads(const CpuCall& call, Angles angles) {
  const size_t head_dim = call.as<Rope>().head_dim;
  const std::span<float> y = call.outputs[0].f32();
  std::ranges::copy(call.inputs[0].f32(), y.begin());
  const size_t columns = call.inputs[0].dims[1];
  for (size_t start = 0; start < y.size(); start += head_dim) {
    rotate(y.subspan(start, head_dim), angles(start / columns));
  }
}

void rope_reference(const CpuCall& call) {
  rotate_heads(call, [&](size_t row) {
    return angles_of(call.inputs[1], call.batch, call.as<Rope>().short_rows, row);
  });
}

void own_angles_reference(const CpuCall& call) {
  const CpuTensor& table = call.inputs[1];
  rotate_heads(call,
               [&](size_t row) { return table.f32().subspan(row * table.dims[1], table.dims[1]); });
}

bool has_own_angles(const Problem& problem) {
  return problem.inputs[1].shape[0] == kTokens;
}
std::string own_refuses(const Problem& problem, const DeviceInfo&) {
  return has_own_angles(problem) ? "" : "is for rows that have angles of their own";
}
std::string table_refuses(const Problem& problem, const DeviceInfo&) {
  return has_own_angles(problem) ? "is for a table of positions" : "";
}

uint32_t rotary(const Problem& problem) {
  return uint32_t(problem.inputs[1].shape[1]);
}

/// `items` lanes for every row.
Launch launch_of(const Problem& problem, const char* source, uint32_t items) {
  return {.constants = {{"THREADS", kMapThreads},
                        {"COLUMNS", uint32_t(problem.inputs[0].shape[1])},
                        {"HEAD_DIM", problem.as<Rope>().head_dim},
                        {"SHORT_ROWS", problem.as<Rope>().short_rows},
                        {"ROTARY", rotary(problem)}},
          .sources = {has_own_angles(problem) ? "rope/own_angles.wgsl" : "rope/angles.wgsl", source,
                      "wgsl/entry.wgsl"},
          .grid = {.x = {ceil_div(items, kMapThreads)}, .y = {1, 1}}};
}

std::string wide_refuses(const Problem& problem, const DeviceInfo&) {
  const uint32_t head_dim = problem.as<Rope>().head_dim;
  if (rotary(problem) % 8 == 0 && head_dim % 4 == 0) return "";
  return fmt::format("turns pairs in fours, not {} of {} elements", rotary(problem), head_dim);
}
Launch wide_launch(const Problem& problem, const DeviceInfo&) {
  const uint32_t head_dim = problem.as<Rope>().head_dim;
  const uint32_t heads = uint32_t(problem.inputs[0].shape[1]) / head_dim;
  const uint32_t head_lanes = rotary(problem) / 8 + (head_dim - rotary(problem)) / 4;
  return launch_of(problem, "rope/rope_wide.wgsl", heads * head_lanes);
}

Launch rope_launch(const Problem& problem, const DeviceInfo&) {
  return launch_of(problem, "rope/rope.wgsl", uint32_t(problem.inputs[0].shape[1]));
}

constexpr KernelVariant kRopeVariants[] = {
    {.name = "rope.wgsl.wide",
     .op = op_index<Rope>(),
     .refuses = wide_refuses,
     .launch = wide_launch},
    {.name = "rope.wgsl", .op = op_index<Rope>(), .launch = rope_launch},
    {.name = "rope.cpu",
     .op = op_index<Rope>(),
     .backend = BackendKind::kCpu,
     .refuses = table_refuses,
     .run = rope_reference},
    {.name = "rope.cpu.own_angles",
     .op = op_index<Rope>(),
     .backend = BackendKind::kCpu,
     .refuses = own_refuses,
     .run = own_angles_reference},
};

}  // namespace

std::span<const KernelVariant> rope_variants() {
  return kRopeVariants;
}

}  // namespace tokamak
