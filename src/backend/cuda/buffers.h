// The buffers of a plan on the device, and how bytes get into them.
#pragma once
#include <memory>
#include <vector>

#include "backend/cuda/memory.h"

namespace tokamak::cuda {

class Buffers {
 public:
  /// Makes every buffer of the plan, filled with zeros.
  static Result<Buffers> make(std::shared_ptr<CudaDevice> device, const Plan& plan);

  DevicePointer at(BufferId id) const { return all_[uint32_t(id)].address(); }
  /// Streams all constants of the plan in.
  Result<void> load(const Plan& plan, const ConstantReader& constants,
                    const LoadProgress& progress);

 private:
  std::shared_ptr<CudaDevice> device_;
  std::vector<DeviceMemory> all_;
};

}  // namespace tokamak::cuda
