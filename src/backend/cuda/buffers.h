// The buffers of a plan on the device, and how bytes get into them.
#pragma once
#include <memory>
#include <vector>

#include "backend/cuda/memory.h"

namespace tokamak::cuda {

class Buffers {
 public:
  /// Makes every buffer of the plan, on the device or the host as it says, filled with zeros.
  static Result<Buffers> make(std::shared_ptr<CudaDevice> device, const Plan& plan);

  DevicePointer at(BufferId id) const { return addresses_[uint32_t(id)]; }
  /// Streams all constants of the plan in.
  Result<void> load(const Plan& plan, const ConstantReader& constants,
                    const LoadProgress& progress);

 private:
  std::shared_ptr<CudaDevice> device_;
  std::vector<DevicePointer> addresses_;  // of every buffer
  std::vector<DeviceMemory> on_device_;
  std::vector<PinnedMemory> on_host_;
};

}  // namespace tokamak::cuda
