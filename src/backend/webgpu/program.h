// A plan on a WebGPU device: pipelines, bind groups and buffers made once; per step one small
// write, one command buffer, one submit.
#pragma once
#include <memory>

#include "backend/backend.h"
#include "backend/webgpu/device.h"

namespace tokamak {

Result<std::unique_ptr<Program>> make_webgpu_program(std::shared_ptr<WebGpuDevice> device,
                                                     Plan plan, const ConstantReader& constants,
                                                     const LoadProgress& progress);

}  // namespace tokamak
