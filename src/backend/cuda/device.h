// One opened CUDA device: its context, the stream that everything runs on, and what it has to say.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "backend/cuda/library.h"
#include "backend/cuda/visible.h"
#include "backend/pipeline_cache.h"

namespace tokamak {

/// How the launches of a step reach the device; all give the same bits.
enum class CudaLaunches : uint8_t {
  kEager,      // one by one: for looking for faults
  kGraph,      // as a graph, each after the end of the one before
  kDependent,  // as a graph, each begins while the one before ends
};
inline constexpr std::string_view kCudaLaunchesNames[] = {"eager", "graph", "dependent"};

struct CudaOptions {
  std::optional<uint32_t> device;                    // its number; the first one otherwise
  Features disabled = 0;                             // features to do without
  CudaLaunches launches = CudaLaunches::kDependent;  // or kGraph, where the device is older
  std::string cache_dir;  // compiled kernels, kept between runs; "": none
};

/// A device that is not opened.
struct CudaDeviceEntry {
  DeviceInfo info;
  CudaPlace place;
};

/// Lists all CUDA devices in their order, or the reason why there are none.
Result<std::vector<CudaDeviceEntry>> list_cuda_devices();
/// Errors: two of them cannot read each other's memory.
Result<void> check_cuda_links(std::span<const uint32_t> devices);
/// "NVRTC 13.0 (/usr/local/cuda-13.0/lib/libnvrtc.so.13), cuBLASLt 13.1 (...)"; or why there is no
/// NVRTC.
Result<std::string> cuda_compiler_text();

/// Errors: why CUDA cannot be used, in a sentence that says what to do.
Result<std::unique_ptr<Backend>> open_cuda_backend(const CudaOptions& options);

namespace cuda {

class CudaDevice {
 public:
  static Result<std::shared_ptr<CudaDevice>> open(const CudaOptions& options);
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice();

  const DeviceInfo& info() const { return info_; }
  const DriverApi& api() const { return driver_.api; }
  Stream stream() const { return stream_; }
  /// 90 of compute capability 9.0.
  int architecture() const { return architecture_; }
  /// The version of CUDA that the driver supports: 13000.
  int driver_version() const { return driver_.version; }
  CudaLaunches launches() const { return launches_; }
  /// Null when there is none.
  PipelineCache* cache() const { return cache_.get(); }

  /// Makes the context that of the calling thread: before its first call of any other function.
  /// After a loss it fails, and nothing may be freed: the handles are those of a context that is
  /// gone, perhaps of one that has been made since.
  Result<void> enter();
  /// Lets kernels of this device read and write the memory of `other`. Errors: the two have no such
  /// link. To be called in this device's context.
  Result<void> reach(const CudaDevice& other);
  /// Makes an error of a call's status. One that poisons the context is kDeviceLost, then and from
  /// then on.
  Result<void> check(Status status, std::string_view what);

  /// Counts memory; see Backend::device_bytes().
  void count_bytes(int64_t change) { bytes_ += uint64_t(change); }
  uint64_t bytes() const { return bytes_; }

 private:
  explicit CudaDevice(const Driver& driver) : driver_(driver) {}

  const Driver& driver_;
  DeviceInfo info_;
  Device device_ = 0;
  int architecture_ = 0;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  CudaLaunches launches_ = CudaLaunches::kDependent;
  std::unique_ptr<PipelineCache> cache_;
  std::atomic<uint64_t> bytes_ = 0;
  std::mutex mutex_;  // of loss_
  std::optional<Error> loss_;
};

}  // namespace cuda
}  // namespace tokamak
