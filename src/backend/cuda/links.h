// The ways from one CUDA device to another, by which ranks read each other's memory.
#pragma once
#include <cstdint>
#include <span>
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

/// Bytes per second of the slowest link between two of those devices; 0 without one.
double slowest_link(std::span<const CudaLink> links, std::span<const uint32_t> devices);

}  // namespace tokamak
