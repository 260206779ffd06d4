// The functions of WebGPU that the page gives the module: the imports "gpu", of
// web/tokamak-web/src/host/gpu.ts. They are flat, so that JavaScript knows no layout of C: objects
// are numbers above 0 in a table of the page, 0 is none; sizes and offsets are doubles; texts are a
// pointer and bytes of UTF-8. Nothing here calls back into the module.
//
// A call that takes time gives a future. Its answer is there when gpu_ready() returns so, or after
// gpu_wait(), which suspends the module; beside file_read() no other import may return a promise.
#pragma once
#include <cstddef>
#include <cstdint>

#define TOKAMAK_GPU_IMPORT(name) __attribute__((import_module("gpu"), import_name(name)))

namespace tokamak::web {

using Object = uint32_t;
using Future = uint32_t;

/// The outcome of a future or an event, as numbers that both sides know.
enum Outcome : uint32_t { kFine = 0, kInvalid = 1, kNoMemory = 2, kInternal = 3, kLost = 4 };

extern "C" {
// Futures.
TOKAMAK_GPU_IMPORT("ready") uint32_t gpu_ready(Future future);
TOKAMAK_GPU_IMPORT("wait") void gpu_wait(Future future);
TOKAMAK_GPU_IMPORT("outcome") uint32_t gpu_outcome(Future future);
/// The object that it has made; the page gives it to the module with this call.
TOKAMAK_GPU_IMPORT("object") Object gpu_object(Future future);
/// Writes at most `capacity` bytes of the message; their number.
TOKAMAK_GPU_IMPORT("message")
uint32_t gpu_message(Future future, char* out, uint32_t capacity);
TOKAMAK_GPU_IMPORT("forget") void gpu_forget(Future future);

// Adapters and devices.
TOKAMAK_GPU_IMPORT("request_adapter") Future gpu_request_adapter();
/// The vendor, architecture, device or description of an adapter; written as gpu_message()
/// does.
TOKAMAK_GPU_IMPORT("adapter_text")
uint32_t gpu_adapter_text(Object adapter, const char* name, uint32_t bytes, char* out,
                          uint32_t capacity);
/// The same of isFallbackAdapter, subgroupMinSize and subgroupMaxSize; 0 where the browser does not
/// say.
TOKAMAK_GPU_IMPORT("adapter_number")
double gpu_adapter_number(Object adapter, const char* name, uint32_t bytes);
/// A limit of an adapter or a device, by its name in the standard; 0: there is none.
TOKAMAK_GPU_IMPORT("limit") double gpu_limit(Object object, const char* name, uint32_t bytes);
TOKAMAK_GPU_IMPORT("has_feature")
uint32_t gpu_has_feature(Object object, const char* name, uint32_t bytes);
TOKAMAK_GPU_IMPORT("has_language_feature")
uint32_t gpu_has_language_feature(const char* name, uint32_t bytes);
/// Adds to the features of the adapter's next gpu_request_device().
TOKAMAK_GPU_IMPORT("require_feature")
void gpu_require_feature(Object adapter, const char* name, uint32_t bytes);
TOKAMAK_GPU_IMPORT("require_limit")
void gpu_require_limit(Object adapter, const char* name, uint32_t bytes, double value);
TOKAMAK_GPU_IMPORT("request_device")
Future gpu_request_device(Object adapter, const char* label, uint32_t bytes);
/// Takes the oldest thing that the device has reported by itself, kFine: nothing. The message as
/// gpu_message() writes it, its length to `length`.
TOKAMAK_GPU_IMPORT("take_event")
uint32_t gpu_take_event(Object device, char* out, uint32_t capacity, uint32_t* length);
TOKAMAK_GPU_IMPORT("push_error_scope") void gpu_push_error_scope(Object device, uint32_t outcome);
TOKAMAK_GPU_IMPORT("pop_error_scope") Future gpu_pop_error_scope(Object device);
TOKAMAK_GPU_IMPORT("destroy_device") void gpu_destroy_device(Object device);
/// Takes the object out of the table. A buffer's memory is given back at once.
TOKAMAK_GPU_IMPORT("release") void gpu_release(Object object);

// The objects that a device makes.
TOKAMAK_GPU_IMPORT("queue") Object gpu_queue(Object device);
TOKAMAK_GPU_IMPORT("buffer")
Object gpu_buffer(Object device, double size, uint32_t usage, const char* label, uint32_t bytes);
TOKAMAK_GPU_IMPORT("shader_module")
Object gpu_shader_module(Object device, const char* code, uint32_t code_bytes, const char* label,
                         uint32_t bytes);
/// `types`: those of the buffers at bindings 0, 1, 2 ..., as WGPUBufferBindingType.
TOKAMAK_GPU_IMPORT("bind_group_layout")
Object gpu_bind_group_layout(Object device, const uint32_t* types, uint32_t count);
TOKAMAK_GPU_IMPORT("pipeline_layout")
Object gpu_pipeline_layout(Object device, const Object* layouts, uint32_t count);
TOKAMAK_GPU_IMPORT("compute_pipeline")
Future gpu_compute_pipeline(Object device, Object layout, Object module, const char* entry,
                            uint32_t entry_bytes, const char* label, uint32_t bytes);
/// `entries`: buffer, offset and size of bindings 0, 1, 2 ...
TOKAMAK_GPU_IMPORT("bind_group")
Object gpu_bind_group(Object device, Object layout, const double* entries, uint32_t count);
TOKAMAK_GPU_IMPORT("timestamps") Object gpu_timestamps(Object device, uint32_t count);
TOKAMAK_GPU_IMPORT("command_encoder") Object gpu_command_encoder(Object device);

// Commands.
/// `timestamps`: where the pass writes when it begins and ends; 0: nowhere.
TOKAMAK_GPU_IMPORT("begin_pass")
Object gpu_begin_pass(Object encoder, Object timestamps, uint32_t begin, uint32_t end);
TOKAMAK_GPU_IMPORT("set_pipeline") void gpu_set_pipeline(Object pass, Object pipeline);
TOKAMAK_GPU_IMPORT("set_bind_group")
void gpu_set_bind_group(Object pass, uint32_t index, Object group);
TOKAMAK_GPU_IMPORT("dispatch") void gpu_dispatch(Object pass, uint32_t x, uint32_t y, uint32_t z);
TOKAMAK_GPU_IMPORT("end_pass") void gpu_end_pass(Object pass);
TOKAMAK_GPU_IMPORT("copy")
void gpu_copy(Object encoder, Object from, double from_offset, Object to, double to_offset,
              double size);
TOKAMAK_GPU_IMPORT("resolve")
void gpu_resolve(Object encoder, Object timestamps, uint32_t first, uint32_t count, Object buffer,
                 double offset);
TOKAMAK_GPU_IMPORT("finish") Object gpu_finish(Object encoder);
TOKAMAK_GPU_IMPORT("submit")
void gpu_submit(Object queue, const Object* commands, uint32_t count);
TOKAMAK_GPU_IMPORT("write")
void gpu_write(Object queue, Object buffer, double offset, const void* bytes, uint32_t size);
TOKAMAK_GPU_IMPORT("work_done") Future gpu_work_done(Object queue);

// Reading back.
TOKAMAK_GPU_IMPORT("map")
Future gpu_map(Object buffer, uint32_t mode, double offset, double size);
/// Copies that part of a mapped buffer; false where it is not mapped.
TOKAMAK_GPU_IMPORT("read_mapped")
uint32_t gpu_read_mapped(Object buffer, double offset, uint32_t size, void* out);
TOKAMAK_GPU_IMPORT("unmap") void gpu_unmap(Object buffer);
}

}  // namespace tokamak::web
