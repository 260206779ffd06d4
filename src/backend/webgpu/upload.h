// Streams constants into buffers of the device. Two versions, one per platform: threads that fill
// mapped staging memory (native), the queue's own writes (where there are no threads).
#pragma once
#include <vector>

#include "backend/backend.h"
#include "backend/webgpu/device.h"
#include "base/check.h"

namespace tokamak {

struct UploadJob {
  const TensorDesc* constant = nullptr;
  WGPUBuffer buffer = nullptr;
  uint64_t bytes = 0;  // what the reader gives; the buffer may be longer
};

/// Holds a piece to the contract of WriteBytes.
inline void check_piece(const UploadJob& job, uint64_t offset, uint64_t size) {
  TOK_CHECK(offset + size <= job.bytes && offset % 4 == 0);
  TOK_CHECK(size % 4 == 0 || offset + size == job.bytes);
}

/// Reads every constant into its buffer; a reader that gives another number of bytes breaks an
/// invariant. Returns when all is submitted. Errors: the reader's first, the device's.
Result<void> upload_constants(WebGpuDevice& device, std::vector<UploadJob> jobs,
                              const ConstantReader& constants, const LoadProgress& progress);

}  // namespace tokamak
