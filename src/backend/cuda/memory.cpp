#include "backend/cuda/memory.h"

namespace tokamak::cuda {

Result<DeviceMemory> DeviceMemory::make(std::shared_ptr<CudaDevice> device, uint64_t bytes,
                                        const std::string& what) {
  DeviceMemory own;
  TOK_TRY(device->check(device->api().memory_alloc(&own.address_, size_t(bytes)), what));
  own.bytes_ = bytes;
  own.device_ = std::move(device);
  own.device_->count_bytes(int64_t(bytes));
  return own;
}

DeviceMemory::~DeviceMemory() {
  if (device_ == nullptr) return;
  if (device_->enter()) device_->api().memory_free(address_);
  device_->count_bytes(-int64_t(bytes_));
}

Result<PinnedMemory> PinnedMemory::make(std::shared_ptr<CudaDevice> device, size_t bytes,
                                        const std::string& what) {
  PinnedMemory own;
  TOK_TRY(device->check(device->api().host_alloc(&own.memory_, bytes, kHostAllocPortable),
                        fmt::format("{} bytes of the host's memory for {}", bytes, what)));
  own.bytes_ = bytes;
  own.device_ = std::move(device);
  return own;
}

PinnedMemory::~PinnedMemory() {
  if (device_ != nullptr && device_->enter()) device_->api().host_free(memory_);
}

Result<Mark> Mark::make(std::shared_ptr<CudaDevice> device, unsigned flags) {
  Mark own;
  TOK_TRY(device->check(device->api().event_create(&own.event_, flags), "No event"));
  own.device_ = std::move(device);
  return own;
}

Mark::~Mark() {
  if (device_ != nullptr && device_->enter()) device_->api().event_destroy(event_);
}

Result<void> Mark::record(Stream stream) {
  return device_->check(device_->api().event_record(event_, stream), "An event cannot be recorded");
}

Result<bool> Mark::has_passed() {
  const Status status = device_->api().event_query(event_);
  if (status == Status::kNotReady) return false;
  TOK_TRY(device_->check(status, "The device has failed"));
  return true;
}

Result<void> Mark::wait() {
  return device_->check(device_->api().event_synchronize(event_), "The device has failed");
}

}  // namespace tokamak::cuda
