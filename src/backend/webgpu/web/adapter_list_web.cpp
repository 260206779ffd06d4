// In the browser, which chooses an adapter itself and shows no other.
#include "backend/webgpu/adapter_list.h"

namespace tokamak {

Result<Adapters> find_adapters() {
  Adapters found{InstanceHandle(wgpuCreateInstance(nullptr)), {}};
  const WGPURequestAdapterOptions options = {.powerPreference =
                                                 WGPUPowerPreference_HighPerformance};
  AdapterHandle adapter = request_adapter(found.instance.get(), options);
  if (!adapter) {
    return fail(ErrorCode::kDevice,
                "The browser has no WebGPU device. It may lack WebGPU, or have switched it off for "
                "the graphics card or its driver.");
  }
  DeviceInfo info = describe(found.instance.get(), adapter.get());
  found.all.push_back({std::move(adapter), std::move(info)});
  return found;
}

}  // namespace tokamak
