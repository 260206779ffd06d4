// Memory of the device and pinned memory of the host, freed with their owners.
#pragma once
#include <memory>
#include <utility>

#include "backend/cuda/device.h"

namespace tokamak::cuda {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// `what` names it in the error when it does not fit.
  static Result<DeviceMemory> make(std::shared_ptr<CudaDevice> device, uint64_t bytes,
                                   const std::string& what);
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceMemory();

  DevicePointer address() const { return address_; }

 private:
  std::shared_ptr<CudaDevice> device_;
  DevicePointer address_ = 0;
  uint64_t bytes_ = 0;
};

/// Copies between it and the device need no other copy and do not block; kernels read it over the
/// bus, at the same address.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  /// `what` names it in the error when the host does not give it.
  static Result<PinnedMemory> make(std::shared_ptr<CudaDevice> device, size_t bytes,
                                   const std::string& what = "staging memory");
  PinnedMemory(PinnedMemory&& other) noexcept { *this = std::move(other); }
  PinnedMemory& operator=(PinnedMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PinnedMemory();

  std::byte* data() const { return static_cast<std::byte*>(memory_); }
  size_t size() const { return bytes_; }

 private:
  std::shared_ptr<CudaDevice> device_;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

/// A place in a stream's work, that one can ask for or wait for.
class Mark {
 public:
  Mark() = default;
  static Result<Mark> make(std::shared_ptr<CudaDevice> device,
                           unsigned flags = kEventDisableTiming);
  Mark(Mark&& other) noexcept { *this = std::move(other); }
  Mark& operator=(Mark&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(event_, other.event_);
    return *this;
  }
  ~Mark();

  Event event() const { return event_; }
  Result<void> record(Stream stream);
  /// Whether everything before it has finished.
  Result<bool> has_passed();
  Result<void> wait();

 private:
  std::shared_ptr<CudaDevice> device_;
  Event event_ = nullptr;
};

}  // namespace tokamak::cuda
