#include "backend/cuda/launches.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/collective/collective.h"

namespace tokamak::cuda {
namespace {

Bound bound_of(const Plan& plan, const Phase& phase, const Step& step, const Buffers& buffers,
               DevicePointer meeting) {
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
  for (const uint32_t input : step.launch.rebound_inputs) add_operand(step.inputs[input]);
  if (step.launch.ranks == 0) return bound;
  TOK_CHECK(next == first_of_ranks(step));
  const uint64_t bytes = meeting_words(step.launch.ranks) * sizeof(uint32_t);
  add(meeting, bytes);
  for (uint32_t rank = 0; rank < step.launch.ranks; ++rank) add_operand(step.inputs[0]);
  for (uint32_t rank = 0; rank < step.launch.ranks; ++rank) add(meeting, bytes);
  return bound;
}

LibraryCall library_call(const Step& step, const Buffers& buffers, Products* products) {
  TOK_CHECK(products != nullptr);
  const auto& op = std::get<HalfLinear>(step.op);
  const uint32_t columns = uint32_t(step.inputs[1].shape[1]);
  const DevicePointer bias =
      step.inputs.size() == 3 ? buffers.at(step.inputs[2].buffer) + sizeof(float) * op.first : 0;
  return {.library = products,
          .rows = op.rows,
          .columns = columns,
          .type = step.inputs[0].dtype == DType::kF16 ? NumberType::kF16 : NumberType::kBf16,
          .is_rounded = op.rounded,
          .at = {.x = buffers.at(step.inputs[0].buffer),
                 .w = buffers.at(step.inputs[1].buffer) + uint64_t{2} * op.first * columns,
                 .bias = bias,
                 .y = buffers.at(step.outputs[0].buffer)}};
}

}  // namespace

size_t first_of_ranks(const Step& step) {
  return 1 + step.inputs.size() + step.outputs.size() + step.launch.rebound_inputs.size();
}

std::vector<std::vector<PreparedLaunch>> prepare_launches(const Plan& plan, const Buffers& buffers,
                                                          const Compiled& compiled,
                                                          const Modules& modules,
                                                          Products* products,
                                                          DevicePointer meeting) {
  std::vector<std::vector<PreparedLaunch>> all;
  for (size_t p = 0; p < plan.phases.size(); ++p) {
    const Phase& phase = plan.phases[p];
    std::vector<PreparedLaunch>& own = all.emplace_back();
    for (size_t s = 0; s < phase.steps.size(); ++s) {
      const Step& step = phase.steps[s];
      if (step.launch.calls_library) {
        own.push_back({.for_outputs = is_for_outputs(plan, phase, step),
                       .call = library_call(step, buffers, products)});
        continue;
      }
      own.push_back({.kernel = modules[compiled.of_step[p][s]],
                     .grid = step.launch.grid,
                     .for_outputs = is_for_outputs(plan, phase, step),
                     .bound = bound_of(plan, phase, step, buffers, meeting)});
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
    if (const LibraryCall& call = own.call; call.library != nullptr) {
      const uint32_t tokens = own.for_outputs ? batch.outputs : batch.rows;
      TOK_TRY(call.library->multiply(
          {tokens, call.rows, call.columns, call.type, call.at.bias != 0, call.is_rounded},
          call.at));
      continue;
    }
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
