#include "backend/cuda/buffers.h"

#include <cstring>

#include "backend/cuda/upload.h"

namespace tokamak::cuda {

Result<Buffers> Buffers::make(std::shared_ptr<CudaDevice> device, const Plan& plan) {
  Buffers own;
  own.device_ = device;
  for (const Buffer& buffer : plan.buffers) {
    const std::string_view name =
        buffer.tensor.name.empty() ? use_name(buffer.use) : std::string_view(buffer.tensor.name);
    const std::string what =
        fmt::format("{} \"{}\" of {} bytes", use_name(buffer.use), name, buffer.bytes);
    if (buffer.on_host) {
      TOK_TRY(PinnedMemory memory, PinnedMemory::make(device, size_t(buffer.bytes), what));
      std::memset(memory.data(), 0, memory.size());
      own.addresses_.push_back(reinterpret_cast<DevicePointer>(memory.data()));
      own.on_host_.push_back(std::move(memory));
      continue;
    }
    TOK_TRY(DeviceMemory memory, DeviceMemory::make(device, buffer.bytes, what));
    TOK_TRY(device->check(
        device->api().fill_async(memory.address(), 0, size_t(buffer.bytes), device->stream()),
        what));
    own.addresses_.push_back(memory.address());
    own.on_device_.push_back(std::move(memory));
  }
  // The streams that bring constants do not wait for this one.
  TOK_TRY(device->check(device->api().stream_synchronize(device->stream()), "Memory stays unset"));
  return own;
}

Result<void> Buffers::load(const Plan& plan, const ConstantReader& constants,
                           const LoadProgress& progress) {
  std::vector<UploadJob> jobs;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.use != BufferUse::kConstant) continue;
    jobs.push_back({&buffer.tensor, addresses_[i], byte_count(buffer.tensor, 1), buffer.on_host});
  }
  return upload_constants(device_, std::move(jobs), constants, progress);
}

}  // namespace tokamak::cuda
