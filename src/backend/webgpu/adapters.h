// Finding and opening WebGPU devices.
#pragma once
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/webgpu/device.h"

namespace tokamak {

/// Every adapter, hardware first; those that compute on the CPU are marked `software`. kDevice when
/// there is none, saying what to install. Two devices of one model look the same and count once.
Result<std::vector<DeviceInfo>> list_webgpu_devices();

/// Opens the device that `options` names, else the first of the list: a software device only when
/// there is nothing better.
Result<std::shared_ptr<WebGpuDevice>> open_webgpu_device(const WebGpuOptions& options);

/// The backend on an opened device. Programs keep the device alive.
std::unique_ptr<Backend> make_webgpu_backend(std::shared_ptr<WebGpuDevice> device);

/// Both in one.
Result<std::unique_ptr<Backend>> open_webgpu_backend(const WebGpuOptions& options);

}  // namespace tokamak
