// webgpu.h in the browser: what a device makes, commands, and reading back.
#include <map>
#include <vector>

#include "backend/webgpu/web/pending.h"

namespace web = tokamak::web;
using web::handle_of;
using web::number_of;
using web::view_of;

namespace {

/// A copy of what is mapped: the page's own memory has no address here.
std::map<web::Object, std::vector<char>>& mapped() {
  static std::map<web::Object, std::vector<char>> all;
  return all;
}

struct Label {
  explicit Label(WGPUStringView text)
      : data(view_of(text).data()), size(uint32_t(view_of(text).size())) {}
  const char* data;
  uint32_t size;
};

}  // namespace

extern "C" {

WGPUQueue wgpuDeviceGetQueue(WGPUDevice device) {
  return handle_of<WGPUQueue>(web::gpu_queue(number_of(device)));
}

WGPUBuffer wgpuDeviceCreateBuffer(WGPUDevice device, const WGPUBufferDescriptor* asked) {
  const Label label(asked->label);
  return handle_of<WGPUBuffer>(web::gpu_buffer(number_of(device), double(asked->size),
                                               uint32_t(asked->usage), label.data, label.size));
}

/// The engine has no shaders but WGSL's.
WGPUShaderModule wgpuDeviceCreateShaderModule(WGPUDevice device,
                                              const WGPUShaderModuleDescriptor* asked) {
  const Label code(reinterpret_cast<const WGPUShaderSourceWGSL*>(asked->nextInChain)->code);
  const Label label(asked->label);
  return handle_of<WGPUShaderModule>(
      web::gpu_shader_module(number_of(device), code.data, code.size, label.data, label.size));
}

WGPUBindGroupLayout wgpuDeviceCreateBindGroupLayout(WGPUDevice device,
                                                    const WGPUBindGroupLayoutDescriptor* asked) {
  std::vector<uint32_t> types(asked->entryCount);
  for (size_t i = 0; i < asked->entryCount; ++i) {
    types.at(asked->entries[i].binding) = uint32_t(asked->entries[i].buffer.type);
  }
  return handle_of<WGPUBindGroupLayout>(
      web::gpu_bind_group_layout(number_of(device), types.data(), uint32_t(types.size())));
}

WGPUPipelineLayout wgpuDeviceCreatePipelineLayout(WGPUDevice device,
                                                  const WGPUPipelineLayoutDescriptor* asked) {
  std::vector<web::Object> layouts;
  for (size_t i = 0; i < asked->bindGroupLayoutCount; ++i) {
    layouts.push_back(number_of(asked->bindGroupLayouts[i]));
  }
  return handle_of<WGPUPipelineLayout>(
      web::gpu_pipeline_layout(number_of(device), layouts.data(), uint32_t(layouts.size())));
}

WGPUFuture wgpuDeviceCreateComputePipelineAsync(WGPUDevice device,
                                                const WGPUComputePipelineDescriptor* asked,
                                                WGPUCreateComputePipelineAsyncCallbackInfo info) {
  const Label entry(asked->compute.entryPoint), label(asked->label);
  const web::Future future = web::gpu_compute_pipeline(number_of(device), number_of(asked->layout),
                                                       number_of(asked->compute.module), entry.data,
                                                       entry.size, label.data, label.size);
  return web::call_later(future, info.mode, [info](const web::Answer& answer) {
    info.callback(answer.object != 0                ? WGPUCreatePipelineAsyncStatus_Success
                  : answer.outcome == web::kInvalid ? WGPUCreatePipelineAsyncStatus_ValidationError
                                                    : WGPUCreatePipelineAsyncStatus_InternalError,
                  handle_of<WGPUComputePipeline>(answer.object), answer.text(), info.userdata1,
                  info.userdata2);
  });
}

WGPUBindGroup wgpuDeviceCreateBindGroup(WGPUDevice device, const WGPUBindGroupDescriptor* asked) {
  std::vector<double> entries(3 * asked->entryCount);
  for (size_t i = 0; i < asked->entryCount; ++i) {
    const WGPUBindGroupEntry& one = asked->entries[i];
    double* const entry = &entries.at(3 * size_t{one.binding});
    entry[0] = double(number_of(one.buffer));
    entry[1] = double(one.offset);
    entry[2] = double(one.size);
  }
  return handle_of<WGPUBindGroup>(web::gpu_bind_group(number_of(device), number_of(asked->layout),
                                                      entries.data(), uint32_t(asked->entryCount)));
}

WGPUQuerySet wgpuDeviceCreateQuerySet(WGPUDevice device, const WGPUQuerySetDescriptor* asked) {
  return handle_of<WGPUQuerySet>(web::gpu_timestamps(number_of(device), asked->count));
}

WGPUCommandEncoder wgpuDeviceCreateCommandEncoder(WGPUDevice device,
                                                  const WGPUCommandEncoderDescriptor*) {
  return handle_of<WGPUCommandEncoder>(web::gpu_command_encoder(number_of(device)));
}

WGPUComputePassEncoder wgpuCommandEncoderBeginComputePass(WGPUCommandEncoder encoder,
                                                          const WGPUComputePassDescriptor* asked) {
  const WGPUPassTimestampWrites* times = asked == nullptr ? nullptr : asked->timestampWrites;
  return handle_of<WGPUComputePassEncoder>(
      times == nullptr
          ? web::gpu_begin_pass(number_of(encoder), 0, 0, 0)
          : web::gpu_begin_pass(number_of(encoder), number_of(times->querySet),
                                times->beginningOfPassWriteIndex, times->endOfPassWriteIndex));
}

void wgpuComputePassEncoderSetPipeline(WGPUComputePassEncoder pass, WGPUComputePipeline pipeline) {
  web::gpu_set_pipeline(number_of(pass), number_of(pipeline));
}

void wgpuComputePassEncoderSetBindGroup(WGPUComputePassEncoder pass, uint32_t index,
                                        WGPUBindGroup group, size_t, const uint32_t*) {
  web::gpu_set_bind_group(number_of(pass), index, number_of(group));
}

void wgpuComputePassEncoderDispatchWorkgroups(WGPUComputePassEncoder pass, uint32_t x, uint32_t y,
                                              uint32_t z) {
  web::gpu_dispatch(number_of(pass), x, y, z);
}

void wgpuComputePassEncoderEnd(WGPUComputePassEncoder pass) {
  web::gpu_end_pass(number_of(pass));
}

void wgpuCommandEncoderCopyBufferToBuffer(WGPUCommandEncoder encoder, WGPUBuffer from,
                                          uint64_t from_offset, WGPUBuffer to, uint64_t to_offset,
                                          uint64_t size) {
  web::gpu_copy(number_of(encoder), number_of(from), double(from_offset), number_of(to),
                double(to_offset), double(size));
}

void wgpuCommandEncoderResolveQuerySet(WGPUCommandEncoder encoder, WGPUQuerySet queries,
                                       uint32_t first, uint32_t count, WGPUBuffer buffer,
                                       uint64_t offset) {
  web::gpu_resolve(number_of(encoder), number_of(queries), first, count, number_of(buffer),
                   double(offset));
}

WGPUCommandBuffer wgpuCommandEncoderFinish(WGPUCommandEncoder encoder,
                                           const WGPUCommandBufferDescriptor*) {
  return handle_of<WGPUCommandBuffer>(web::gpu_finish(number_of(encoder)));
}

void wgpuQueueSubmit(WGPUQueue queue, size_t count, const WGPUCommandBuffer* lists) {
  if (count == 0) return;  // natively this starts what was written; a browser does that by itself
  std::vector<web::Object> commands;
  for (size_t i = 0; i < count; ++i) commands.push_back(number_of(lists[i]));
  web::gpu_submit(number_of(queue), commands.data(), uint32_t(count));
}

void wgpuQueueWriteBuffer(WGPUQueue queue, WGPUBuffer buffer, uint64_t offset, const void* bytes,
                          size_t size) {
  if (size > 0) {
    web::gpu_write(number_of(queue), number_of(buffer), double(offset), bytes, uint32_t(size));
  }
}

WGPUFuture wgpuQueueOnSubmittedWorkDone(WGPUQueue queue, WGPUQueueWorkDoneCallbackInfo info) {
  return web::call_later(
      web::gpu_work_done(number_of(queue)), info.mode, [info](const web::Answer& answer) {
        info.callback(answer.outcome == web::kFine ? WGPUQueueWorkDoneStatus_Success
                                                   : WGPUQueueWorkDoneStatus_Error,
                      answer.text(), info.userdata1, info.userdata2);
      });
}

WGPUFuture wgpuBufferMapAsync(WGPUBuffer buffer, WGPUMapMode mode, size_t offset, size_t size,
                              WGPUBufferMapCallbackInfo info) {
  const web::Future future =
      web::gpu_map(number_of(buffer), uint32_t(mode), double(offset), double(size));
  return web::call_later(future, info.mode, [info](const web::Answer& answer) {
    info.callback(
        answer.outcome == web::kFine ? WGPUMapAsyncStatus_Success : WGPUMapAsyncStatus_Error,
        answer.text(), info.userdata1, info.userdata2);
  });
}

const void* wgpuBufferGetConstMappedRange(WGPUBuffer buffer, size_t offset, size_t size) {
  std::vector<char>& copy = mapped()[number_of(buffer)];
  copy.resize(size);
  const uint32_t is_there =
      web::gpu_read_mapped(number_of(buffer), double(offset), uint32_t(size), copy.data());
  return is_there != 0 ? copy.data() : nullptr;
}

void wgpuBufferUnmap(WGPUBuffer buffer) {
  mapped().erase(number_of(buffer));
  web::gpu_unmap(number_of(buffer));
}

void wgpuBufferRelease(WGPUBuffer buffer) {
  mapped().erase(number_of(buffer));
  web::gpu_release(number_of(buffer));
}

void wgpuQueueRelease(WGPUQueue queue) {
  web::gpu_release(number_of(queue));
}
void wgpuShaderModuleRelease(WGPUShaderModule module) {
  web::gpu_release(number_of(module));
}
void wgpuBindGroupLayoutRelease(WGPUBindGroupLayout layout) {
  web::gpu_release(number_of(layout));
}
void wgpuPipelineLayoutRelease(WGPUPipelineLayout layout) {
  web::gpu_release(number_of(layout));
}
void wgpuComputePipelineRelease(WGPUComputePipeline pipeline) {
  web::gpu_release(number_of(pipeline));
}
void wgpuBindGroupRelease(WGPUBindGroup group) {
  web::gpu_release(number_of(group));
}
void wgpuQuerySetRelease(WGPUQuerySet queries) {
  web::gpu_release(number_of(queries));
}
void wgpuCommandEncoderRelease(WGPUCommandEncoder encoder) {
  web::gpu_release(number_of(encoder));
}
void wgpuComputePassEncoderRelease(WGPUComputePassEncoder pass) {
  web::gpu_release(number_of(pass));
}
void wgpuCommandBufferRelease(WGPUCommandBuffer commands) {
  web::gpu_release(number_of(commands));
}

}  // extern "C"
