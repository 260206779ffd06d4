// Owners of WebGPU objects, and the texts that go in and out of webgpu.h.
#pragma once
#include <webgpu/webgpu.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tokamak {

/// Holds one reference to a WebGPU object and gives it back at the end. May be empty.
template <typename T, void (*kRelease)(T)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T raw) : raw_(raw) {}
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Handle() {
    if (raw_ != nullptr) kRelease(raw_);
  }

  T get() const { return raw_; }
  explicit operator bool() const { return raw_ != nullptr; }

 private:
  T raw_ = nullptr;
};

using InstanceHandle = Handle<WGPUInstance, wgpuInstanceRelease>;
using AdapterHandle = Handle<WGPUAdapter, wgpuAdapterRelease>;
using DeviceHandle = Handle<WGPUDevice, wgpuDeviceRelease>;
using QueueHandle = Handle<WGPUQueue, wgpuQueueRelease>;
using BufferHandle = Handle<WGPUBuffer, wgpuBufferRelease>;
using ShaderModuleHandle = Handle<WGPUShaderModule, wgpuShaderModuleRelease>;
using BindGroupLayoutHandle = Handle<WGPUBindGroupLayout, wgpuBindGroupLayoutRelease>;
using PipelineLayoutHandle = Handle<WGPUPipelineLayout, wgpuPipelineLayoutRelease>;
using PipelineHandle = Handle<WGPUComputePipeline, wgpuComputePipelineRelease>;
using BindGroupHandle = Handle<WGPUBindGroup, wgpuBindGroupRelease>;
using EncoderHandle = Handle<WGPUCommandEncoder, wgpuCommandEncoderRelease>;
using PassHandle = Handle<WGPUComputePassEncoder, wgpuComputePassEncoderRelease>;
using QuerySetHandle = Handle<WGPUQuerySet, wgpuQuerySetRelease>;
using CommandsHandle = Handle<WGPUCommandBuffer, wgpuCommandBufferRelease>;

/// Gives a callback its own hold on what it writes into, as its userdata: it may come when nobody
/// waits for it any more. Every such callback comes once, and takes it back with of_callback().
template <typename T>
void* for_callback(const std::shared_ptr<T>& shared) {
  return new std::shared_ptr<T>(shared);
}
template <typename T>
std::shared_ptr<T> of_callback(void* userdata) {
  const std::unique_ptr<std::shared_ptr<T>> held(static_cast<std::shared_ptr<T>*>(userdata));
  return std::move(*held);
}

inline WGPUStringView wgpu_text(std::string_view text) {
  return {text.data(), text.size()};
}

inline std::string text_of(WGPUStringView view) {
  if (view.data == nullptr) return {};
  return view.length == WGPU_STRLEN ? std::string(view.data) : std::string(view.data, view.length);
}

}  // namespace tokamak
