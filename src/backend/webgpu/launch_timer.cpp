#include "backend/webgpu/launch_timer.h"

#include <cstring>

namespace tokamak {
namespace {

/// Both before and after each launch; WebGPU allows 4096 in a set.
constexpr size_t kMaxLaunches = 2048;

}  // namespace

Result<LaunchTimer> LaunchTimer::make(std::shared_ptr<WebGpuDevice> device, size_t launches) {
  if (!wgpuDeviceHasFeature(device->handle(), WGPUFeatureName_TimestampQuery)) {
    return unsupported("\"{}\" has no timestamps to time kernels with.", device->info().name);
  }
  if (launches > kMaxLaunches) {
    return unsupported("A step of {} launches is more than the {} that can be timed at once.",
                       launches, kMaxLaunches);
  }
  LaunchTimer timer(std::move(device), launches);
  Checks checks(*timer.device_);
  checks.run("timestamps", [&] {
    const WGPUDevice gpu = timer.device_->handle();
    const WGPUQuerySetDescriptor queries = {.type = WGPUQueryType_Timestamp,
                                            .count = uint32_t(2 * launches)};
    timer.queries_ = QuerySetHandle(wgpuDeviceCreateQuerySet(gpu, &queries));
    const WGPUBufferDescriptor resolved = {
        .label = wgpu_text("timestamps"),
        .usage = WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc,
        .size = timer.bytes()};
    timer.resolved_ = BufferHandle(wgpuDeviceCreateBuffer(gpu, &resolved));
    const WGPUBufferDescriptor staging = {
        .label = wgpu_text("timestamps to read"),
        .usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst,
        .size = timer.bytes()};
    timer.staging_ = BufferHandle(wgpuDeviceCreateBuffer(gpu, &staging));
  });
  TOK_TRY(checks.finish());
  return timer;
}

WGPUPassTimestampWrites LaunchTimer::writes(size_t i) const {
  return {.querySet = queries_.get(),
          .beginningOfPassWriteIndex = uint32_t(2 * i),
          .endOfPassWriteIndex = uint32_t(2 * i + 1)};
}

void LaunchTimer::resolve(WGPUCommandEncoder encoder) const {
  wgpuCommandEncoderResolveQuerySet(encoder, queries_.get(), 0, uint32_t(2 * launches_),
                                    resolved_.get(), 0);
  wgpuCommandEncoderCopyBufferToBuffer(encoder, resolved_.get(), 0, staging_.get(), 0, bytes());
}

Result<std::vector<double>> LaunchTimer::read() const {
  const auto problem = std::make_shared<std::string>("The timestamps cannot be read.");
  const auto on_mapped = [](WGPUMapAsyncStatus status, WGPUStringView message, void* out, void*) {
    const std::shared_ptr<std::string> text = of_callback<std::string>(out);
    if (status == WGPUMapAsyncStatus_Success) {
      text->clear();
    } else {
      *text += " " + text_of(message);
    }
  };
  TOK_TRY(device_->wait(wgpuBufferMapAsync(staging_.get(), WGPUMapMode_Read, 0, size_t(bytes()),
                                           {.mode = WGPUCallbackMode_WaitAnyOnly,
                                            .callback = on_mapped,
                                            .userdata1 = for_callback(problem)})));
  TOK_TRY(device_->status());
  const void* mapped = problem->empty()
                           ? wgpuBufferGetConstMappedRange(staging_.get(), 0, size_t(bytes()))
                           : nullptr;
  if (mapped == nullptr) return fail(ErrorCode::kDevice, "{}", *problem);
  std::vector<uint64_t> nanoseconds(2 * launches_);
  std::memcpy(nanoseconds.data(), mapped, size_t(bytes()));
  wgpuBufferUnmap(staging_.get());
  std::vector<double> seconds;
  for (size_t i = 0; i < launches_; ++i) {
    // Signed: a device may set its clock back between two passes.
    const auto spent = int64_t(nanoseconds[2 * i + 1] - nanoseconds[2 * i]);
    seconds.push_back(double(std::max<int64_t>(spent, 0)) * 1e-9);
  }
  return seconds;
}

}  // namespace tokamak
