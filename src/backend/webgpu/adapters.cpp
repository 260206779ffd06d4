#include "backend/webgpu/adapters.h"

#include <algorithm>
#include <cstring>

#include "backend/webgpu/adapter_list.h"
#include "backend/webgpu/device_size.h"

namespace tokamak {
namespace {

std::string_view api_name(WGPUBackendType type) {
  switch (type) {
    case WGPUBackendType_D3D12:
      return "Direct3D 12";
    case WGPUBackendType_Metal:
      return "Metal";
    case WGPUBackendType_Vulkan:
      return "Vulkan";
    default:
      return "WebGPU";
  }
}

/// The one kind of subgroup matrices, among all that a device may offer, that kernels use. The
/// fetched Dawn writes more into a config than the header says, so it is looked for as words in a
/// row.
bool has_matrix_units(WGPUAdapter adapter, const DeviceInfo& device) {
  constexpr Features kNeeded = kFeatureF16 | kFeatureSubgroups;
  if ((device.features & kNeeded) != kNeeded ||
      !wgpuAdapterHasFeature(adapter, WGPUFeatureName_ChromiumExperimentalSubgroupMatrix)) {
    return false;
  }
  WGPUAdapterPropertiesSubgroupMatrixConfigs found = {
      .chain = {.sType = WGPUSType_AdapterPropertiesSubgroupMatrixConfigs}};
  WGPUAdapterInfo info = {.nextInChain = &found.chain};
  wgpuAdapterGetInfo(adapter, &info);
  std::vector<uint32_t> words(found.configCount * sizeof(WGPUSubgroupMatrixConfig) / 4);
  if (!words.empty()) std::memcpy(words.data(), found.configs, 4 * words.size());
  wgpuAdapterPropertiesSubgroupMatrixConfigsFreeMembers(found);
  wgpuAdapterInfoFreeMembers(info);
  constexpr uint32_t kWanted[] = {WGPUSubgroupMatrixComponentType_F16,
                                  WGPUSubgroupMatrixComponentType_F32, kMatrixSide, kMatrixSide,
                                  kMatrixSide};
  return !std::ranges::search(words, kWanted).empty();
}

void on_adapter(WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView, void* out, void*) {
  *of_callback<AdapterHandle>(out) = AdapterHandle(adapter);
}

void set_size(DeviceInfo& info, const WebGpuOptions& options) {
  if (options.multiprocessors == 0) return;
  info.size.multiprocessors = options.multiprocessors;
  info.size.source = "as TOKAMAK_MULTIPROCESSORS says";
}

}  // namespace

DeviceInfo describe(WGPUInstance instance, WGPUAdapter adapter) {
  WGPUAdapterInfo info = {};
  wgpuAdapterGetInfo(adapter, &info);
  DeviceInfo device;
  device.backend = BackendKind::kWebGpu;
  device.name = text_of(info.device);
  if (device.name.empty()) device.name = text_of(info.vendor);
  device.driver = fmt::format("{}, {}", api_name(info.backendType), text_of(info.description));
  device.software = info.adapterType == WGPUAdapterType_CPU;
  device.size =
      device.software ? size_of_software() : size_of_device(device.name, text_of(info.vendor));
  if (wgpuAdapterHasFeature(adapter, WGPUFeatureName_ShaderF16)) device.features |= kFeatureF16;
  if (wgpuAdapterHasFeature(adapter, WGPUFeatureName_Subgroups)) {
    device.features |= kFeatureSubgroups;
    device.subgroup_min = info.subgroupMinSize;
    device.subgroup_max = info.subgroupMaxSize;
  }
  wgpuAdapterInfoFreeMembers(info);
  if (wgpuInstanceHasWGSLLanguageFeature(instance,
                                         WGPUWGSLLanguageFeatureName_Packed4x8IntegerDotProduct)) {
    device.features |= kFeatureDot4;
  }
  if (has_matrix_units(adapter, device)) device.features |= kFeatureSubgroupMatrix;
  WGPULimits limits = {};
  wgpuAdapterGetLimits(adapter, &limits);
  device.limits = device_limits(limits);
  return device;
}

AdapterHandle request_adapter(WGPUInstance instance, const WGPURequestAdapterOptions& options) {
  const auto answer = std::make_shared<AdapterHandle>();
  const WGPUFuture request = wgpuInstanceRequestAdapter(instance, &options,
                                                        {.mode = WGPUCallbackMode_WaitAnyOnly,
                                                         .callback = on_adapter,
                                                         .userdata1 = for_callback(answer)});
  wait_for(instance, request);
  return std::move(*answer);
}

Result<std::vector<DeviceInfo>> list_webgpu_devices() {
  TOK_TRY(Adapters found, find_adapters());
  std::vector<DeviceInfo> infos;
  for (Adapter& adapter : found.all) infos.push_back(std::move(adapter.info));
  return infos;
}

Result<std::shared_ptr<WebGpuDevice>> open_webgpu_device(const WebGpuOptions& options) {
  TOK_TRY(Adapters found, find_adapters());
  const uint32_t index = options.device.value_or(0);
  if (index >= found.all.size()) {
    return fail(ErrorCode::kUsage, "There is no WebGPU device {}; the last one is {}.", index,
                found.all.size() - 1);
  }
  Adapter chosen = std::move(found.all[index]);
  set_size(chosen.info, options);
  return WebGpuDevice::open(std::move(found.instance), chosen.handle, std::move(chosen.info),
                            options);
}

Result<std::unique_ptr<Backend>> open_webgpu_backend(const WebGpuOptions& options) {
  TOK_TRY(std::shared_ptr<WebGpuDevice> device, open_webgpu_device(options));
  return make_webgpu_backend(std::move(device));
}

}  // namespace tokamak
