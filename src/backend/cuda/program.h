// A plan on a CUDA device: buffers, modules and the arguments of every launch made once; per step
// one small copy and the launches of its phase on one stream.
#pragma once
#include <memory>

#include "backend/cuda/device.h"

namespace tokamak::cuda {

Result<std::unique_ptr<Program>> make_program(std::shared_ptr<CudaDevice> device, Plan plan,
                                              const ConstantReader& constants,
                                              const LoadProgress& progress);

}  // namespace tokamak::cuda
