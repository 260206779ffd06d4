#include "backend/webgpu/buffers.h"

#include "backend/webgpu/upload.h"

namespace tokamak {
namespace {

WGPUBufferUsage usage_of(BufferUse use) {
  const WGPUBufferUsage usage =
      WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst | WGPUBufferUsage_CopySrc;
  return use == BufferUse::kBatch ? usage | WGPUBufferUsage_Uniform : usage;
}

std::string buffer_label(const Buffer& buffer) {
  return buffer.tensor.name.empty() ? std::string(use_name(buffer.use)) : buffer.tensor.name;
}

}  // namespace

DeviceBuffers::DeviceBuffers(std::shared_ptr<WebGpuDevice> device, const Plan& plan, Checks& checks)
    : device_(std::move(device)) {
  for (const Buffer& buffer : plan.buffers) {
    const std::string label = buffer_label(buffer);
    const WGPUBufferDescriptor descriptor = {
        .label = wgpu_text(label), .usage = usage_of(buffer.use), .size = buffer.bytes};
    checks.run(fmt::format("{} \"{}\" of {} bytes", use_name(buffer.use), label, buffer.bytes),
               [&] { all_.emplace_back(wgpuDeviceCreateBuffer(device_->handle(), &descriptor)); });
    bytes_ += int64_t(buffer.bytes);
  }
  device_->count_bytes(bytes_);
}

DeviceBuffers::~DeviceBuffers() {
  if (device_ != nullptr) device_->count_bytes(-bytes_);
}

Result<void> DeviceBuffers::load(const Plan& plan, const ConstantReader& constants,
                                 const LoadProgress& progress) {
  std::vector<UploadJob> jobs;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.use != BufferUse::kConstant) continue;
    jobs.push_back({&buffer.tensor, all_[i].get(), byte_count(buffer.tensor, 1)});
  }
  return upload_constants(*device_, std::move(jobs), constants, progress);
}

}  // namespace tokamak
