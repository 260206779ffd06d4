#include <algorithm>

#include "backend/webgpu/adapter_list.h"
#include "backend/webgpu/dawn/loader.h"
#include "backend/webgpu/device.h"

namespace tokamak {
namespace {

/// Drivers go with the last instance that uses them, and NVIDIA's cannot be loaded any more after
/// it was unloaded some dozen times: a program that opens and closes models would lose its device.
/// So the first instance stays as long as the program.
void keep_drivers_loaded(WGPUInstance instance) {
  static const WGPUInstance kept = (wgpuInstanceAddRef(instance), instance);
  static_cast<void>(kept);
}

}  // namespace

/// The standard has no list of adapters, only requests that prefer one or another.
Result<Adapters> find_adapters() {
  TOK_TRY(load_dawn());
  WGPUDawnTogglesDescriptor toggles = dawn_toggles();
  const WGPUInstanceFeatureName feature = WGPUInstanceFeatureName_TimedWaitAny;
  const WGPUInstanceDescriptor descriptor = {
      .nextInChain = &toggles.chain, .requiredFeatureCount = 1, .requiredFeatures = &feature};
  Adapters found{InstanceHandle(wgpuCreateInstance(&descriptor)), {}};
  if (!found.instance) return fail(ErrorCode::kDevice, "WebGPU does not start.");
  // Not Direct3D, on which no kernel has run yet: who has it has Vulkan, too.
  for (const WGPUBackendType api : {WGPUBackendType_Metal, WGPUBackendType_Vulkan}) {
    for (const auto& [power, software] :
         {std::pair{WGPUPowerPreference_HighPerformance, WGPUBool{0}},
          std::pair{WGPUPowerPreference_LowPower, WGPUBool{0}},
          std::pair{WGPUPowerPreference_Undefined, WGPUBool{1}}}) {
      const WGPURequestAdapterOptions options = {.nextInChain = &toggles.chain,
                                                 .featureLevel = WGPUFeatureLevel_Core,
                                                 .powerPreference = power,
                                                 .forceFallbackAdapter = software,
                                                 .backendType = api};
      AdapterHandle adapter = request_adapter(found.instance.get(), options);
      if (!adapter) continue;
      DeviceInfo info = describe(found.instance.get(), adapter.get());
      const bool known = std::any_of(found.all.begin(), found.all.end(), [&](const Adapter& other) {
        return other.info.name == info.name && other.info.driver == info.driver;
      });
      if (known) continue;
      const auto first_software =
          std::find_if(found.all.begin(), found.all.end(),
                       [](const Adapter& other) { return other.info.software; });
      const auto place = info.software ? found.all.end() : first_software;
      found.all.insert(place, {std::move(adapter), std::move(info)});
    }
  }
  keep_drivers_loaded(found.instance.get());
  if (found.all.empty()) {
    return fail(ErrorCode::kDevice,
                "No WebGPU device was found. Install the Vulkan driver of your graphics card; "
                "./dev setup fetches a software driver, and VK_DRIVER_FILES names a driver that "
                "is not where Vulkan looks for it.");
  }
  return found;
}

}  // namespace tokamak
