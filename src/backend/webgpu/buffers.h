// The buffers of a plan on the device, and how bytes get into them.
#pragma once
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/webgpu/device.h"

namespace tokamak {

class DeviceBuffers {
 public:
  /// Makes every buffer of the plan; WebGPU fills them with zeros. `checks` names the buffer that
  /// did not fit.
  DeviceBuffers(std::shared_ptr<WebGpuDevice> device, const Plan& plan, Checks& checks);
  DeviceBuffers(DeviceBuffers&&) = default;
  DeviceBuffers& operator=(DeviceBuffers&&) = delete;
  ~DeviceBuffers();

  WGPUBuffer at(BufferId id) const { return all_[uint32_t(id)].get(); }

  /// Streams all constants of the plan in.
  Result<void> load(const Plan& plan, const ConstantReader& constants,
                    const LoadProgress& progress);

 private:
  std::shared_ptr<WebGpuDevice> device_;  // empty after a move
  std::vector<BufferHandle> all_;
  int64_t bytes_ = 0;
};

}  // namespace tokamak
