#include "backend/cuda/launches.h"

#include <algorithm>

#include "base/check.h"

namespace tokamak::cuda {
namespace {

Bound bound_of(const Plan& plan, const Phase& phase, const Step& step, const Buffers& buffers) {
  Bound bound;
  size_t next = 0;
  const auto add = [&](DevicePointer address, uint64_t bytes) {
    TOK_CHECK(next < std::size(bound.at));
    bound.at[next] = address;
    bound.bytes[next++] = uint32_t(std::min<uint64_t>(bytes, UINT32_MAX));
  };
  const auto add_operand = [&](const Operand& operand) {
    const uint64_t offset = operand.buffer == plan.batch ? plan.layout().ids_offset() : 0;
    add(buffers.at(operand.buffer) + offset, bound_bytes(plan, operand, phase));
  };
  add(buffers.at(plan.batch), batch_access(plan, phase, step).bytes());
  for (const Operand& in : step.inputs) add_operand(in);
  for (const Operand& out : step.outputs) add_operand(out);
  for (const uint32_t input : step.launch.again) add_operand(step.inputs[input]);
  return bound;
}

}  // namespace

std::vector<std::vector<PreparedLaunch>> prepare_launches(const Plan& plan, const Buffers& buffers,
                                                          const Compiled& compiled,
                                                          const Modules& modules) {
  std::vector<std::vector<PreparedLaunch>> all;
  for (size_t p = 0; p < plan.phases.size(); ++p) {
    const Phase& phase = plan.phases[p];
    std::vector<PreparedLaunch>& own = all.emplace_back();
    for (size_t s = 0; s < phase.steps.size(); ++s) {
      const Step& step = phase.steps[s];
      own.push_back({.kernel = modules[compiled.of_step[p][s]],
                     .grid = step.launch.grid,
                     .for_outputs = is_for_outputs(plan, phase, step),
                     .bound = bound_of(plan, phase, step, buffers)});
    }
  }
  return all;
}

Workgroups workgroups_of(const PreparedLaunch& launch, const BatchSize& batch) {
  const StepSize size = {launch.for_outputs ? batch.outputs : batch.rows, batch.slots};
  return {launch.grid.x.at(size), launch.grid.y.at(size), launch.grid.z.at(size)};
}

Result<void> launch(CudaDevice& device, std::span<const PreparedLaunch> launches,
                    const BatchSize& batch) {
  for (const PreparedLaunch& own : launches) {
    const Workgroups groups = workgroups_of(own, batch);
    Bound bound = own.bound;
    void* parameters[] = {&bound};
    const Status status =
        device.api().launch(own.kernel.function, groups.x, groups.y, groups.z, own.kernel.lanes, 1,
                            1, own.kernel.shared_bytes, device.stream(), parameters, nullptr);
    TOK_TRY(device.check(status, "A kernel cannot be launched"));
  }
  return {};
}

}  // namespace tokamak::cuda
