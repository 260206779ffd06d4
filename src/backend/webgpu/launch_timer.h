// Times the launches of one step by the device's own clock.
#pragma once
#include <memory>
#include <vector>

#include "backend/webgpu/device.h"

namespace tokamak {

class LaunchTimer {
 public:
  /// kUnsupported when the device has no timestamps.
  static Result<LaunchTimer> make(std::shared_ptr<WebGpuDevice> device, size_t launches);

  /// For the compute pass that holds nothing but launch `i`.
  WGPUPassTimestampWrites writes(size_t i) const;

  /// To be encoded after the last pass.
  void resolve(WGPUCommandEncoder encoder) const;

  /// Seconds of each launch. Blocks until the step has run.
  Result<std::vector<double>> read() const;

 private:
  LaunchTimer(std::shared_ptr<WebGpuDevice> device, size_t launches)
      : device_(std::move(device)), launches_(launches) {}

  uint64_t bytes() const { return launches_ * 2 * sizeof(uint64_t); }

  std::shared_ptr<WebGpuDevice> device_;
  size_t launches_;
  QuerySetHandle queries_;
  BufferHandle resolved_, staging_;
};

}  // namespace tokamak
