// Every compute pipeline of a plan, compiled once and at the same time.
#pragma once
#include <memory>
#include <vector>

#include "backend/webgpu/device.h"
#include "plan/plan.h"

namespace tokamak {

struct Pipeline {
  PipelineHandle handle;
  WGPUBindGroupLayout layout = nullptr;  // owned by Pipelines
};

struct Pipelines {
  std::vector<BindGroupLayoutHandle> layouts;
  std::vector<Pipeline> all;
  std::vector<std::vector<size_t>> of_step;  // [phase][step] -> index into `all`
  uint32_t cached = 0;                       // how many came whole from the cache
  double seconds = 0;                        // for which the program did nothing else
};

/// Pipelines that the device's threads compile while the program does something else.
class PendingPipelines {
 public:
  /// Steps with the same text share a pipeline. Binding 0 is the batch, then come the inputs, then
  /// the outputs (kernels/sources.h). `checks` names a text that is no WGSL, with the reason.
  static PendingPipelines begin(std::shared_ptr<WebGpuDevice> device, const Plan& plan,
                                Checks& checks);

  PendingPipelines(PendingPipelines&&) noexcept;
  /// Waits for those that are still in flight.
  ~PendingPipelines();

  /// Waits for all of them; once. Errors: one that the device refuses, with its reason.
  Result<Pipelines> finish();

 private:
  struct State;
  explicit PendingPipelines(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tokamak
