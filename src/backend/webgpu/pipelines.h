// Every compute pipeline of a plan, compiled once and at the same time.
#pragma once
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
};

/// Steps with the same text share a pipeline. Binding 0 is the frame, then come the inputs, then
/// the outputs (kernels/sources.h). Errors: a text that the device refuses, with its reason.
Result<Pipelines> compile_pipelines(WebGpuDevice& device, const Plan& plan);

}  // namespace tokamak
