// The adapters that there are. Two versions, one per platform: Dawn's (native) and the browser's
// one.
#pragma once
#include <vector>

#include "backend/webgpu/handle.h"
#include "base/result.h"
#include "kernels/kernel.h"

namespace tokamak {

struct Adapter {
  AdapterHandle handle;
  DeviceInfo info;
};

struct Adapters {
  InstanceHandle instance;
  std::vector<Adapter> all;
};

/// In the order of list_webgpu_devices(); see there.
Result<Adapters> find_adapters();

/// Describes an adapter for the choice of kernels.
DeviceInfo describe(WGPUInstance instance, WGPUAdapter adapter);

/// Blocks until the adapter that `options` prefer is there; empty: there is none.
AdapterHandle request_adapter(WGPUInstance instance, const WGPURequestAdapterOptions& options);

}  // namespace tokamak
