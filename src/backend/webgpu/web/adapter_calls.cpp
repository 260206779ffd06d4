// webgpu.h in the browser: instances, adapters, devices, and what they say.
#include <array>
#include <iterator>
#include <string>

#include "backend/webgpu/web/pending.h"

namespace web = tokamak::web;
using web::gpu_limit;
using web::handle_of;
using web::number_of;
using web::view_of;

namespace {

/// There is one, navigator.gpu, which no handle of the table stands for.
const auto kInstance = handle_of<WGPUInstance>(UINT32_MAX);

/// The limits that the engine reads: others stay 0 and are not requested.
struct Limit {
  std::string_view name;
  double (*get)(const WGPULimits&);
  void (*set)(WGPULimits&, double);
};

template <auto kMember>
constexpr Limit limit(std::string_view name) {
  return {name, [](const WGPULimits& limits) { return double(limits.*kMember); },
          [](WGPULimits& limits, double value) {
            limits.*kMember = std::remove_cvref_t<decltype(limits.*kMember)>(value);
          }};
}

constexpr Limit kLimits[] = {
    limit<&WGPULimits::maxStorageBuffersPerShaderStage>("maxStorageBuffersPerShaderStage"),
    limit<&WGPULimits::maxStorageBufferBindingSize>("maxStorageBufferBindingSize"),
    limit<&WGPULimits::maxBufferSize>("maxBufferSize"),
    limit<&WGPULimits::maxComputeWorkgroupStorageSize>("maxComputeWorkgroupStorageSize"),
    limit<&WGPULimits::maxComputeInvocationsPerWorkgroup>("maxComputeInvocationsPerWorkgroup"),
    limit<&WGPULimits::maxComputeWorkgroupSizeX>("maxComputeWorkgroupSizeX"),
    limit<&WGPULimits::maxComputeWorkgroupSizeY>("maxComputeWorkgroupSizeY"),
    limit<&WGPULimits::maxComputeWorkgroupSizeZ>("maxComputeWorkgroupSizeZ"),
    limit<&WGPULimits::maxComputeWorkgroupsPerDimension>("maxComputeWorkgroupsPerDimension"),
};

WGPUStatus get_limits(web::Object object, WGPULimits* out) {
  for (const Limit& one : kLimits) {
    one.set(*out, gpu_limit(object, one.name.data(), uint32_t(one.name.size())));
  }
  return WGPUStatus_Success;
}

/// The features that are ever asked for, by their names in the standard; "" for all others, which
/// no browser grants to every page.
std::string_view feature_name(WGPUFeatureName feature) {
  switch (feature) {
    case WGPUFeatureName_ShaderF16:
      return "shader-f16";
    case WGPUFeatureName_Subgroups:
      return "subgroups";
    case WGPUFeatureName_TimestampQuery:
      return "timestamp-query";
    default:
      return "";
  }
}

WGPUBool has_feature(web::Object object, WGPUFeatureName feature) {
  const std::string_view name = feature_name(feature);
  return !name.empty() && web::gpu_has_feature(object, name.data(), uint32_t(name.size())) != 0;
}

std::string adapter_text(web::Object adapter, std::string_view name) {
  std::string text(256, '\0');
  text.resize(web::gpu_adapter_text(adapter, name.data(), uint32_t(name.size()), text.data(),
                                    uint32_t(text.size())));
  return text;
}

uint32_t adapter_number(web::Object adapter, std::string_view name) {
  return uint32_t(web::gpu_adapter_number(adapter, name.data(), uint32_t(name.size())));
}

/// A browser may keep to itself what the device is called.
std::string device_name(web::Object adapter) {
  for (const char* name : {"device", "description"}) {
    if (std::string text = adapter_text(adapter, name); !text.empty()) return text;
  }
  std::string text = adapter_text(adapter, "vendor");
  const std::string architecture = adapter_text(adapter, "architecture");
  if (!text.empty() && !architecture.empty()) text += ' ';
  text += architecture;
  return text.empty() ? "the browser's GPU" : text;
}

WGPUStringView copied(const std::string& text) {
  char* copy = new char[text.size()];
  text.copy(copy, text.size());
  return {copy, text.size()};
}

}  // namespace

extern "C" {

WGPUInstance wgpuCreateInstance(const WGPUInstanceDescriptor*) {
  return kInstance;
}

void wgpuInstanceRelease(WGPUInstance) {}

void wgpuInstanceProcessEvents(WGPUInstance) {
  web::run_finished();
}

/// The engine waits for one at a time, and as long as it takes.
WGPUWaitStatus wgpuInstanceWaitAny(WGPUInstance, size_t count, WGPUFutureWaitInfo* infos,
                                   uint64_t) {
  if (count != 1) return WGPUWaitStatus_Error;
  web::wait_until_run(web::Future(infos->future.id));
  infos->completed = WGPUBool{1};
  return WGPUWaitStatus_Success;
}

WGPUBool wgpuInstanceHasWGSLLanguageFeature(WGPUInstance, WGPUWGSLLanguageFeatureName feature) {
  constexpr std::string_view kDot4 = "packed_4x8_integer_dot_product";
  if (feature != WGPUWGSLLanguageFeatureName_Packed4x8IntegerDotProduct) return WGPUBool{0};
  return web::gpu_has_language_feature(kDot4.data(), uint32_t(kDot4.size()));
}

/// The browser chooses; the fastest is asked for, whatever the options say.
WGPUFuture wgpuInstanceRequestAdapter(WGPUInstance, const WGPURequestAdapterOptions*,
                                      WGPURequestAdapterCallbackInfo info) {
  return web::call_later(web::gpu_request_adapter(), info.mode, [info](const web::Answer& answer) {
    info.callback(answer.object != 0 ? WGPURequestAdapterStatus_Success
                                     : WGPURequestAdapterStatus_Unavailable,
                  handle_of<WGPUAdapter>(answer.object), answer.text(), info.userdata1,
                  info.userdata2);
  });
}

WGPUStatus wgpuAdapterGetInfo(WGPUAdapter adapter, WGPUAdapterInfo* info) {
  const web::Object number = number_of(adapter);
  info->vendor = copied(adapter_text(number, "vendor"));
  info->architecture = copied(adapter_text(number, "architecture"));
  info->device = copied(device_name(number));
  info->description = copied(adapter_text(number, "description"));
  info->backendType = WGPUBackendType_WebGPU;
  info->adapterType = adapter_number(number, "isFallbackAdapter") != 0 ? WGPUAdapterType_CPU
                                                                       : WGPUAdapterType_Unknown;
  info->subgroupMinSize = adapter_number(number, "subgroupMinSize");
  info->subgroupMaxSize = adapter_number(number, "subgroupMaxSize");
  return WGPUStatus_Success;
}

void wgpuAdapterInfoFreeMembers(WGPUAdapterInfo info) {
  for (const WGPUStringView text :
       {info.vendor, info.architecture, info.device, info.description}) {
    delete[] text.data;
  }
}

/// There are none: no browser has their feature.
void wgpuAdapterPropertiesSubgroupMatrixConfigsFreeMembers(
    WGPUAdapterPropertiesSubgroupMatrixConfigs) {}

WGPUStatus wgpuAdapterGetLimits(WGPUAdapter adapter, WGPULimits* limits) {
  return get_limits(number_of(adapter), limits);
}

WGPUStatus wgpuDeviceGetLimits(WGPUDevice device, WGPULimits* limits) {
  return get_limits(number_of(device), limits);
}

WGPUBool wgpuAdapterHasFeature(WGPUAdapter adapter, WGPUFeatureName feature) {
  return has_feature(number_of(adapter), feature);
}

WGPUBool wgpuDeviceHasFeature(WGPUDevice device, WGPUFeatureName feature) {
  return has_feature(number_of(device), feature);
}

/// Chained structures are extensions of Dawn's, which a browser does not take.
WGPUFuture wgpuAdapterRequestDevice(WGPUAdapter adapter, const WGPUDeviceDescriptor* asked,
                                    WGPURequestDeviceCallbackInfo info) {
  const web::Object number = number_of(adapter);
  for (size_t i = 0; i < asked->requiredFeatureCount; ++i) {
    const std::string_view name = feature_name(asked->requiredFeatures[i]);
    if (!name.empty()) web::gpu_require_feature(number, name.data(), uint32_t(name.size()));
  }
  if (asked->requiredLimits != nullptr) {
    for (const Limit& one : kLimits) {
      web::gpu_require_limit(number, one.name.data(), uint32_t(one.name.size()),
                             one.get(*asked->requiredLimits));
    }
  }
  const std::string_view label = view_of(asked->label);
  const auto when_there = [info, lost = asked->deviceLostCallbackInfo,
                           error = asked->uncapturedErrorCallbackInfo](const web::Answer& answer) {
    if (answer.object != 0) web::watch(answer.object, lost, error);
    info.callback(
        answer.object != 0 ? WGPURequestDeviceStatus_Success : WGPURequestDeviceStatus_Error,
        handle_of<WGPUDevice>(answer.object), answer.text(), info.userdata1, info.userdata2);
  };
  return web::call_later(web::gpu_request_device(number, label.data(), uint32_t(label.size())),
                         info.mode, when_there);
}

void wgpuDevicePushErrorScope(WGPUDevice device, WGPUErrorFilter filter) {
  web::gpu_push_error_scope(number_of(device),
                            filter == WGPUErrorFilter_OutOfMemory ? web::kNoMemory
                            : filter == WGPUErrorFilter_Internal  ? web::kInternal
                                                                  : web::kInvalid);
}

WGPUFuture wgpuDevicePopErrorScope(WGPUDevice device, WGPUPopErrorScopeCallbackInfo info) {
  return web::call_later(
      web::gpu_pop_error_scope(number_of(device)), info.mode, [info](const web::Answer& answer) {
        info.callback(WGPUPopErrorScopeStatus_Success,
                      answer.outcome == web::kFine       ? WGPUErrorType_NoError
                      : answer.outcome == web::kNoMemory ? WGPUErrorType_OutOfMemory
                      : answer.outcome == web::kInternal ? WGPUErrorType_Internal
                                                         : WGPUErrorType_Validation,
                      answer.text(), info.userdata1, info.userdata2);
      });
}

void wgpuDeviceDestroy(WGPUDevice device) {
  web::gpu_destroy_device(number_of(device));
}

void wgpuAdapterRelease(WGPUAdapter adapter) {
  web::gpu_release(number_of(adapter));
}

void wgpuDeviceRelease(WGPUDevice device) {
  web::forget(number_of(device));
  web::gpu_release(number_of(device));
}

}  // extern "C"
