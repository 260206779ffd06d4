// The ways from one CUDA device to another, by which ranks read each other's memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tokamak {

struct CudaLink {
  uint32_t reader = 0, owner = 0;  // numbers of devices
  double bytes_per_second = 0;     // of a copy from the owner's memory into the reader's
  std::string problem;             // why there is none
};

/// Measures it for every pair of devices, some milliseconds each. Errors: a device cannot be used.
Result<std::vector<CudaLink>> measure_cuda_links();

}  // namespace tokamak
