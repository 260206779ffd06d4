#include "kernels/rope/rope.h"

#include "kernels/launch.h"
#include "kernels/rows.h"

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

/// Rotates the heads of row t.
void rotate_heads(const CpuCall& call, size_t t, std::span<const float> angles) {
  const size_t head_dim = call.as<Rope>().head_dim;
  const std::span<float> y = row_of(call.outputs[0], t);
  std::ranges::copy(row_of(call.inputs[0], t), y.begin());
  for (size_t first = 0; first < y.size(); first += head_dim) {
    rotate(y.subspan(first, head_dim), angles);
  }
}

bool has_own_angles(const Problem& problem) {
  return problem.inputs[1].shape[0] == kTokens;
}

}  // namespace

void rope_row(const CpuCall& call, size_t t) {
  rotate_heads(call, t, angles_of(call.inputs[1], call.batch, call.as<Rope>().short_rows, t));
}

void rope_own_angles_row(const CpuCall& call, size_t t) {
  rotate_heads(call, t, row_of(call.inputs[1], t));
}

std::string own_angles_refuse(const Problem& problem, const DeviceInfo&) {
  return has_own_angles(problem) ? "" : "is for rows that have angles of their own";
}
std::string angles_table_refuses(const Problem& problem, const DeviceInfo&) {
  return has_own_angles(problem) ? "is for a table of positions" : "";
}

namespace {

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
     .refuses = angles_table_refuses,
     .run = row_by_row<rope_row>},
    {.name = "rope.cpu.own_angles",
     .op = op_index<Rope>(),
     .backend = BackendKind::kCpu,
     .refuses = own_angles_refuse,
     .run = row_by_row<rope_own_angles_row>},
};

}  // namespace

std::span<const KernelVariant> rope_variants() {
  return kRopeVariants;
}

}  // namespace tokamak
