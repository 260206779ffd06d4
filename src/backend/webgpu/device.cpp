#include "backend/webgpu/device.h"

#include "base/check.h"
#include "base/poll.h"

namespace tokamak {
namespace {

constexpr uint64_t kForever = UINT64_MAX;
constexpr double kSubmitSeconds = 0.25;  // drivers reset a device after two seconds

// A driver that is asked when a step has ended says so some 200 us before it wakes who sleeps until
// then (docs/history/performance.md). A device that has more to do meanwhile is polled with pauses
// from the start. After a second, which no step of one token takes, the thread sleeps.
constexpr std::chrono::microseconds kPause(50), kTimeout(1'000'000);
constexpr Backoff kSpinFirst = {std::chrono::microseconds(2000), kPause, kTimeout};
constexpr Backoff kSleepAtOnce = {std::chrono::microseconds(0), kPause, kTimeout};

ErrorCode code_of(WGPUErrorType type) {
  return type == WGPUErrorType_OutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kDevice;
}

/// The answer to a request for a device.
struct Requested {
  std::optional<Error> error;
  WGPUDevice device = nullptr;
};

void on_device(WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView message,
               void* requested, void*) {
  const std::shared_ptr<Requested> out = of_callback<Requested>(requested);
  out->device = device;
  if (status != WGPURequestDeviceStatus_Success) {
    out->error = {ErrorCode::kDevice, text_of(message)};
  }
}

size_t load_entry(size_t key_size, const uint8_t* key, size_t value_size, uint8_t* value,
                  void* cache, void*) {
  auto& own = *static_cast<PipelineCache*>(cache);
  const size_t size = own.load({key, key_size}, {value, value_size});
  if (value_size == 0) own.count(size > 0);  // asked for its size first, then for the bytes
  return size;
}

void store_entry(size_t key_size, const uint8_t* key, size_t value_size, const uint8_t* value,
                 void* cache, void*) {
  static_cast<PipelineCache*>(cache)->store({key, key_size}, {value, value_size});
}

WGPUDawnCacheDeviceDescriptor cache_descriptor(PipelineCache* cache, WGPUChainedStruct* next) {
  return {.chain = {.next = next, .sType = WGPUSType_DawnCacheDeviceDescriptor},
          .isolationKey = wgpu_text("tokamak"),
          .dawnLoadCacheDataCallbackInfo = {.callback = load_entry, .userdata1 = cache},
          .dawnStoreCacheDataCallbackInfo = {.callback = store_entry, .userdata1 = cache}};
}

}  // namespace

DeviceLimits device_limits(const WGPULimits& limits) {
  return {.workgroup_threads =
              std::min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
          .workgroup_bytes = limits.maxComputeWorkgroupStorageSize,
          .storage_buffers = limits.maxStorageBuffersPerShaderStage,
          .grid_dimension = limits.maxComputeWorkgroupsPerDimension,
          .binding_bytes = limits.maxStorageBufferBindingSize,
          .buffer_bytes = limits.maxBufferSize};
}

WGPUDawnTogglesDescriptor dawn_toggles() {
  // Dawn hides shader-f16 on NVIDIA unless it is asked for, and experimental features everywhere:
  // subgroup matrices. Kernels write workgroup memory before they read it, so that setting it to
  // zeros at the start of each is wasted: 1.4 % of a token of Llama-1B in q4_0 on an H200.
  static constexpr const char* kEnabled[] = {"vulkan_enable_f16_on_nvidia", "allow_unsafe_apis",
                                             "disable_workgroup_init"};
  // A browser must blur its clock against spies; a program that times its own kernels must not.
  static constexpr const char* kDisabled[] = {"timestamp_quantization"};
  return {.chain = {.next = nullptr, .sType = WGPUSType_DawnTogglesDescriptor},
          .enabledToggleCount = std::size(kEnabled),
          .enabledToggles = kEnabled,
          .disabledToggleCount = std::size(kDisabled),
          .disabledToggles = kDisabled};
}

Result<std::shared_ptr<WebGpuDevice>> WebGpuDevice::open(InstanceHandle instance,
                                                         const AdapterHandle& adapter,
                                                         DeviceInfo found,
                                                         const WebGpuOptions& options) {
  std::shared_ptr<WebGpuDevice> self(new WebGpuDevice);
  self->instance_ = std::move(instance);
  self->info_ = std::move(found);
  self->info_.features &= ~options.disabled;
  self->submit_dispatches_ = options.submit_dispatches;
  const double seconds = options.submit_seconds.value_or(self->info_.software ? 0 : kSubmitSeconds);
  self->progress_ =
      std::make_shared<Progress>(Progress{.pace = SubmitPace(seconds), .last_end = {}});
  std::vector<WGPUFeatureName> features;
  if ((self->info_.features & kFeatureF16) != 0) features.push_back(WGPUFeatureName_ShaderF16);
  if ((self->info_.features & kFeatureSubgroups) != 0) {
    features.push_back(WGPUFeatureName_Subgroups);
  }
  if ((self->info_.features & kFeatureSubgroupMatrix) != 0) {
    features.push_back(WGPUFeatureName_ChromiumExperimentalSubgroupMatrix);
  }
  // For LaunchTimer only: no kernel needs it, and a device may lack it.
  if (wgpuAdapterHasFeature(adapter.get(), WGPUFeatureName_TimestampQuery)) {
    features.push_back(WGPUFeatureName_TimestampQuery);
  }
  WGPULimits limits = {};
  wgpuAdapterGetLimits(adapter.get(), &limits);

  WGPUDawnTogglesDescriptor toggles = dawn_toggles();
  WGPUDawnCacheDeviceDescriptor cache = {};
  WGPUChainedStruct* chain = &toggles.chain;
  if (!options.cache_dir.empty()) self->cache_ = open_pipeline_cache(options.cache_dir);
  if (self->cache_ != nullptr) {
    cache = cache_descriptor(self->cache_.get(), chain);
    chain = &cache.chain;
  }
  const WGPUDeviceDescriptor descriptor = {
      .nextInChain = chain,
      .label = wgpu_text("tokamak"),
      .requiredFeatureCount = features.size(),
      .requiredFeatures = features.data(),
      .requiredLimits = options.default_limits ? nullptr : &limits,
      .deviceLostCallbackInfo = {.mode = WGPUCallbackMode_AllowProcessEvents,
                                 .callback = on_lost,
                                 .userdata1 = self.get()},
      .uncapturedErrorCallbackInfo = {.callback = on_error, .userdata1 = self.get()}};
  const auto answer = std::make_shared<Requested>();
  TOK_TRY(self->wait(wgpuAdapterRequestDevice(adapter.get(), &descriptor,
                                              {.mode = WGPUCallbackMode_WaitAnyOnly,
                                               .callback = on_device,
                                               .userdata1 = for_callback(answer)})));
  if (answer->error || answer->device == nullptr) {
    return fail(ErrorCode::kDevice, "\"{}\" gives no WebGPU device: {}", self->info_.name,
                answer->error ? answer->error->message : "no reason given");
  }
  self->device_ = DeviceHandle(answer->device);
  self->queue_ = QueueHandle(wgpuDeviceGetQueue(answer->device));
  WGPULimits granted = {};
  wgpuDeviceGetLimits(answer->device, &granted);
  self->info_.limits = device_limits(granted);
  return self;
}

WebGpuDevice::~WebGpuDevice() {
  if (!device_) return;
  // Dawn never frees a device that is only released: bench/soak saw an open file and 1.3 MB remain
  // for each on llvmpipe. The callback of its loss comes now, for the last time.
  wgpuDeviceDestroy(device_.get());
  process_events();
}

bool wait_for(WGPUInstance instance, WGPUFuture future) {
  WGPUFutureWaitInfo info = {.future = future};
  return wgpuInstanceWaitAny(instance, 1, &info, kForever) == WGPUWaitStatus_Success;
}

Result<void> WebGpuDevice::wait(WGPUFuture future) {
  if (wait_for(instance_.get(), future)) return {};
  process_events();
  TOK_TRY(status());
  return fail(ErrorCode::kDevice, "Waiting for \"{}\" failed.", info_.name);
}

Result<void> WebGpuDevice::wait_awake(WGPUFuture future, const bool& has_arrived, bool has_more) {
  const auto is_done = [&] {
    process_events();
    return has_arrived;
  };
  // A software device computes on the cores that would ask.
  if (!has_arrived && !info_.software) {
    poll_until_true(is_done, has_more ? kSleepAtOnce : kSpinFirst);
  }
  return has_arrived ? Result<void>() : wait(future);
}

WGPUFuture WebGpuDevice::when_queue_is_done() {
  const auto ignore = [](WGPUQueueWorkDoneStatus, WGPUStringView, void*, void*) {};
  return wgpuQueueOnSubmittedWorkDone(queue_.get(),
                                      {.mode = WGPUCallbackMode_WaitAnyOnly, .callback = ignore});
}

void WebGpuDevice::measure_submission(double nominal) {
  struct Measured {
    std::shared_ptr<Progress> progress;
    double nominal;
    std::chrono::steady_clock::time_point start;
  };
  const auto on_done = [](WGPUQueueWorkDoneStatus status, WGPUStringView, void* measured, void*) {
    const auto own = of_callback<Measured>(measured);
    if (status != WGPUQueueWorkDoneStatus_Success) return;
    const auto now = std::chrono::steady_clock::now();
    Progress& progress = *own->progress;
    const std::chrono::duration<double> took = now - std::max(own->start, progress.last_end);
    progress.last_end = now;
    progress.pace.measured(own->nominal, took.count());
  };
  const auto measured =
      std::make_shared<Measured>(Measured{progress_, nominal, std::chrono::steady_clock::now()});
  wgpuQueueOnSubmittedWorkDone(queue_.get(), {.mode = WGPUCallbackMode_AllowProcessEvents,
                                              .callback = on_done,
                                              .userdata1 = for_callback(measured)});
}

Result<void> WebGpuDevice::wait_for_queue() {
  TOK_TRY(wait(when_queue_is_done()));
  return status();
}

Result<void> WebGpuDevice::status() {
  // An error of a lost device is reported before its loss, whose callback may still be waiting.
  if (error_ && !loss_) process_events();
  if (loss_) return Failure(*loss_);
  if (!error_) return {};
  return Failure(*std::exchange(error_, std::nullopt));
}

void WebGpuDevice::on_error(WGPUDevice const*, WGPUErrorType type, WGPUStringView message,
                            void* self, void*) {
  auto& device = *static_cast<WebGpuDevice*>(self);
  if (device.error_) return;  // the first error explains those that follow
  device.error_ = {code_of(type),
                   fmt::format("\"{}\" reports: {}", device.info_.name, text_of(message))};
}

void WebGpuDevice::on_lost(WGPUDevice const*, WGPUDeviceLostReason, WGPUStringView message,
                           void* self, void*) {
  auto& device = *static_cast<WebGpuDevice*>(self);
  std::string why = text_of(message);
  if (!why.ends_with('.')) why += why.empty() ? "no reason given." : ".";
  device.loss_ = {ErrorCode::kDeviceLost,
                  fmt::format("The device \"{}\" is lost: {}", device.info_.name, why)};
}

/// The answers of the scopes around one creation.
struct Checks::Answer {
  std::string what;
  std::optional<Error> error;
  std::vector<WGPUFuture> scopes;
  size_t missing = 0;  // of them
};

void Checks::run(std::string_view what, const std::function<void()>& create) {
  constexpr WGPUErrorFilter kFilters[] = {WGPUErrorFilter_Internal, WGPUErrorFilter_OutOfMemory,
                                          WGPUErrorFilter_Validation};
  const auto on_scope = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message,
                           void* answer, void*) {
    const std::shared_ptr<Answer> out = of_callback<Answer>(answer);
    --out->missing;
    if (type == WGPUErrorType_NoError || type == WGPUErrorType{}) return;
    // Memory that ran out explains what else went wrong.
    if (out->error && code_of(type) != ErrorCode::kOutOfMemory) return;
    out->error = {code_of(type), text_of(message)};
  };
  for (const WGPUErrorFilter filter : kFilters) {
    wgpuDevicePushErrorScope(device_.handle(), filter);
  }
  create();
  const auto answer = std::make_shared<Answer>();
  answer->what = what;
  answer->missing = std::size(kFilters);
  while (answer->scopes.size() < std::size(kFilters)) {
    answer->scopes.push_back(
        wgpuDevicePopErrorScope(device_.handle(), {.mode = WGPUCallbackMode_AllowProcessEvents,
                                                   .callback = on_scope,
                                                   .userdata1 = for_callback(answer)}));
  }
  answers_.push_back(answer);
}

Result<void> Checks::finish() {
  const std::vector<std::shared_ptr<Answer>> answers = std::exchange(answers_, {});
  // Scopes are answered in their order, so that waiting for the last is waiting for all of them. An
  // implementation that thinks otherwise is waited for more often.
  for (size_t i = answers.size(); i-- > 0;) {
    for (size_t scope = answers[i]->scopes.size(); scope-- > 0 && answers[i]->missing > 0;) {
      TOK_TRY(device_.wait(answers[i]->scopes[scope]));
      device_.process_events();
    }
  }
  TOK_TRY(device_.status());
  const Answer* first = nullptr;
  for (const std::shared_ptr<Answer>& answer : answers) {
    if (!answer->error) continue;
    const bool ran_out = answer->error->code == ErrorCode::kOutOfMemory;
    if (first == nullptr || (ran_out && first->error->code != ErrorCode::kOutOfMemory)) {
      first = answer.get();
    }
  }
  if (first != nullptr) return Failure(first->error->within(first->what));
  return {};
}

}  // namespace tokamak
