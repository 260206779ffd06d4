#include "backend/webgpu/readback.h"

namespace tokamak {
namespace {

constexpr size_t kStagingBuffers = 3;

}  // namespace

Readback::Readback(std::shared_ptr<WebGpuDevice> device, uint64_t bytes, Checks& checks)
    : device_(std::move(device)), bytes_(bytes) {
  checks.run("staging memory for results", [&] {
    for (size_t i = 0; i < kStagingBuffers; ++i) free_.push_back(make_staging());
  });
}

Readback::~Readback() {
  if (device_ != nullptr) device_->count_bytes(-counted_);
}

Readback::Staging Readback::make_staging() {
  const WGPUBufferDescriptor descriptor = {
      .label = wgpu_text("staging"),
      .usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst,
      .size = bytes_};
  counted_ += int64_t(bytes_);
  device_->count_bytes(int64_t(bytes_));
  return {BufferHandle(wgpuDeviceCreateBuffer(device_->handle(), &descriptor)), bytes_};
}

void Readback::drop(Staging staging) {
  counted_ -= int64_t(staging.bytes);
  device_->count_bytes(-int64_t(staging.bytes));
}

Readback::Staging Readback::take(uint64_t bytes) {
  if (bytes > bytes_) {
    bytes_ = bytes;
    for (Staging& one : std::exchange(free_, {})) drop(std::move(one));
  }
  if (free_.empty()) return make_staging();
  Staging staging = std::move(free_.back());
  free_.pop_back();
  return staging;
}

void Readback::give_back(Staging staging) {
  if (staging.bytes < bytes_) return drop(std::move(staging));
  free_.push_back(std::move(staging));
}

void Readback::read(Staging staging, uint64_t bytes, Done done) {
  auto request = std::make_shared<Request>();
  request->staging = std::move(staging);
  request->bytes = bytes;
  request->done = std::move(done);
  const auto on_mapped = [](WGPUMapAsyncStatus status, WGPUStringView message, void* owner, void*) {
    const std::shared_ptr<Request> mapped = of_callback<Request>(owner);
    mapped->arrived = true;
    if (status == WGPUMapAsyncStatus_Success) return;
    mapped->problem = text_of(message);
    if (mapped->problem.empty()) mapped->problem = "The result cannot be read.";
  };
  request->future =
      wgpuBufferMapAsync(request->staging.buffer.get(), WGPUMapMode_Read, 0, size_t(bytes),
                         {.mode = WGPUCallbackMode_AllowProcessEvents,
                          .callback = on_mapped,
                          .userdata1 = for_callback(request)});
  waiting_.push_back(std::move(request));
}

void Readback::deliver() {
  while (!waiting_.empty() && waiting_.front()->arrived) {
    const std::shared_ptr<Request> request = std::move(waiting_.front());
    waiting_.pop_front();  // first, because `done` may submit again
    // An error of the device explains a missing result better than the mapping does; the callback
    // of a loss may still be waiting.
    if (!request->problem.empty()) device_->process_events();
    if (Result<void> status = device_->status(); !status) {
      request->done(Failure(status.error()));
    } else if (!request->problem.empty()) {
      request->done(fail(ErrorCode::kDevice, "{}", request->problem));
    } else {
      const void* mapped =
          wgpuBufferGetConstMappedRange(request->staging.buffer.get(), 0, size_t(request->bytes));
      if (mapped == nullptr) {
        request->done(fail(ErrorCode::kDevice, "The result cannot be read."));
      } else {
        request->done(
            std::span(static_cast<const float*>(mapped), size_t(request->bytes) / sizeof(float)));
        wgpuBufferUnmap(request->staging.buffer.get());
        give_back(std::move(request->staging));
      }
    }
  }
}

Result<void> Readback::wait_for_first() {
  if (waiting_.empty()) return {};
  const std::shared_ptr<Request> first = waiting_.front();
  const Result<void> status =
      device_->wait_awake(first->future, first->arrived, waiting_.size() > 1);
  if (!status) {
    give_up(status.error());
    return status;
  }
  deliver();
  return {};
}

void Readback::give_up(const Error& why) {
  for (const std::shared_ptr<Request>& request : std::exchange(waiting_, {})) {
    request->done(Failure(why));
  }
}

Result<void> Readback::wait() {
  while (!waiting_.empty()) TOK_TRY(wait_for_first());
  return {};
}

}  // namespace tokamak
