// Streams constants into memory of the device, or of the host where they stay there.
#pragma once
#include <vector>

#include "backend/cuda/memory.h"

namespace tokamak::cuda {

struct UploadJob {
  const TensorDesc* constant = nullptr;
  DevicePointer memory = 0;
  uint64_t bytes = 0;  // what the reader gives
  bool on_host = false;
};

/// Reads every constant; a reader that gives another number of bytes breaks an invariant. Returns
/// when all of it is there. Errors: the reader's first, the device's.
Result<void> upload_constants(const std::shared_ptr<CudaDevice>& device,
                              std::vector<UploadJob> jobs, const ConstantReader& constants,
                              const LoadProgress& progress);

}  // namespace tokamak::cuda
