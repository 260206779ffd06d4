// One opened WebGPU device and what it has to say: errors, loss, finished work.
//
// Errors come three ways, and all of them end in a Result: of creations through error scopes
// (Checks), of submitted work through the uncaptured-error callback (status()), and the loss of
// the device through its own callback (status(), from then on always, kDeviceLost).
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/pipeline_cache.h"
#include "backend/webgpu/handle.h"
#include "backend/webgpu/submit_pace.h"
#include "base/result.h"
#include "kernels/kernel.h"

namespace tokamak {

struct WebGpuOptions {
  std::optional<uint32_t> device;  // index into list_webgpu_devices(); the first one otherwise
  Features disabled = 0;           // features to do without
  bool default_limits = false;     // ask for no more than every WebGPU device grants
  std::string cache_dir;           // compiled pipelines, kept between runs; "": none
  uint32_t multiprocessors = 0;    // of the device; 0: as device_size.h says
  /// Most dispatches of a submission, for devices that are reset, or stop drawing the desktop, when
  /// one takes long; longer steps are several submissions then. 0: any number.
  uint32_t submit_dispatches = 0;
  /// Longest time of a submission as far as it can be told in advance; 0: any. Unset: a quarter of
  /// a second, and any where a software driver, which nothing resets, computes.
  std::optional<double> submit_seconds;
};

/// Blocks until the callback of `future` has run: where all waiting for WebGPU ends. False where it
/// never will.
bool wait_for(WGPUInstance instance, WGPUFuture future);

class WebGpuDevice {
 public:
  /// Asks `adapter` for a device with all its limits and the features kernels use. `found`
  /// describes the adapter.
  static Result<std::shared_ptr<WebGpuDevice>> open(InstanceHandle instance,
                                                    const AdapterHandle& adapter, DeviceInfo found,
                                                    const WebGpuOptions& options);
  WebGpuDevice(const WebGpuDevice&) = delete;
  WebGpuDevice& operator=(const WebGpuDevice&) = delete;
  ~WebGpuDevice();

  const DeviceInfo& info() const { return info_; }
  WGPUDevice handle() const { return device_.get(); }
  WGPUQueue queue() const { return queue_.get(); }
  /// See WebGpuOptions.
  uint32_t submit_dispatches() const { return submit_dispatches_; }
  const SubmitPace& pace() const { return progress_->pace; }
  /// Learns the device's speed from the submission just made, of `nominal` seconds of a slow
  /// device.
  void measure_submission(double nominal);

  /// Runs the callbacks of what has finished. Never blocks.
  void process_events() { wgpuInstanceProcessEvents(instance_.get()); }
  /// Blocks until the callback of `future` has run. This and wait_awake() are all that blocks.
  Result<void> wait(WGPUFuture future);
  /// The same for what is needed at once, a step's result, whose callback sets `has_arrived`: asks
  /// for it for a while before the thread sleeps. `has_more`: the device has more to do after it.
  Result<void> wait_awake(WGPUFuture future, const bool& has_arrived, bool has_more);
  /// For wait(): comes when what was submitted until now has finished.
  WGPUFuture when_queue_is_done();
  /// Blocks until the queue is empty.
  Result<void> wait_for_queue();

  /// The loss of the device, or an error of submitted work that nobody has been told of yet.
  Result<void> status();

  /// How often the cache of pipelines was looked into; zeros when there is none.
  PipelineCache::Lookups cache_lookups() const {
    return cache_ == nullptr ? PipelineCache::Lookups() : cache_->lookups();
  }

  /// Why that cache could not keep something; "" when it kept everything.
  std::string cache_problem() const { return cache_ == nullptr ? "" : cache_->problem(); }

  /// Counts buffers; see Backend::device_bytes().
  void count_bytes(int64_t change) { bytes_ += uint64_t(change); }
  uint64_t bytes() const { return bytes_; }

 private:
  WebGpuDevice() = default;
  static void on_error(WGPUDevice const*, WGPUErrorType type, WGPUStringView message, void* self,
                       void*);
  static void on_lost(WGPUDevice const*, WGPUDeviceLostReason reason, WGPUStringView message,
                      void* self, void*);

  DeviceInfo info_;
  uint32_t submit_dispatches_ = 0;
  /// Callbacks may come when the device is gone.
  struct Progress {
    SubmitPace pace;
    std::chrono::steady_clock::time_point last_end;
  };
  std::shared_ptr<Progress> progress_;
  uint64_t bytes_ = 0;
  std::optional<Error> error_, loss_;
  // Callbacks reach what stands above, the cache included, until the instance is gone.
  std::unique_ptr<PipelineCache> cache_;
  InstanceHandle instance_;
  DeviceHandle device_;
  QueueHandle queue_;
};

/// Creations whose errors are asked for together: waiting for each would cost a browser a turn of
/// its event loop for every buffer and every bind group of a model.
class Checks {
 public:
  explicit Checks(WebGpuDevice& device) : device_(device) {}

  /// Runs `create` and keeps what the device says of it.
  void run(std::string_view what, const std::function<void()>& create);
  /// Blocks, once, until the device has answered for all that ran since the last call. The first
  /// error, of memory that ran out before all others: kOutOfMemory or kDevice, "what: message".
  Result<void> finish();

 private:
  struct Answer;

  WebGpuDevice& device_;
  std::vector<std::shared_ptr<Answer>> answers_;
};

/// Gives tokamak's limits; the WebGPU names are in the specification's table of limits.
DeviceLimits device_limits(const WGPULimits& limits);

/// The toggles of Dawn that the engine sets, for chaining into descriptors; other implementations
/// never see them.
WGPUDawnTogglesDescriptor dawn_toggles();

}  // namespace tokamak
